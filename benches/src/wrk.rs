//! Load, made by `wrk`: 64 connections on a thread, for two seconds, or as many as `TURN` says.

use std::env;
use std::process::Command;

/// What asks; the arguments that say what for are still to be given.
pub fn wrk(authorization: &str) -> Command {
    let seconds = env::var("TURN").unwrap_or_else(|_| "2".into());
    let mut wrk = Command::new("wrk");
    wrk.args(["-t1", "-c64", "-d", &seconds, "-H"])
        .arg(format!("authorization: {authorization}"));
    wrk
}

/// How many requests a second are answered, all of them well.
pub fn requests_a_second(wrk: &mut Command) -> f64 {
    let done = wrk.output();
    let done = done.unwrap_or_else(|none| panic!("wrk has to be installed: {none}"));
    let told = String::from_utf8(done.stdout).unwrap();
    let failed = ["Non-2xx", "Socket errors"]
        .iter()
        .any(|trouble| told.contains(trouble));
    assert!(done.status.success() && !failed, "{told}");
    let pace = told
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"));
    pace.unwrap().trim().parse().unwrap()
}
