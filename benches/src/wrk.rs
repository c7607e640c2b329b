//! Load by `wrk`: 64 connections on one thread, for `TURN` seconds (default 2).

use std::env;
use std::process::Command;

/// Returns the command without its URL.
pub fn wrk(authorization: &str) -> Command {
    let seconds = env::var("TURN").unwrap_or_else(|_| "2".into());
    let mut wrk = Command::new("wrk");
    wrk.args(["-t1", "-c64", "-d", &seconds, "-H"])
        .arg(format!("authorization: {authorization}"));
    wrk
}

/// Runs the command and returns the requests per second. Panics unless all succeed.
pub fn requests_a_second(wrk: &mut Command) -> f64 {
    let done = wrk.output();
    let done = done.unwrap_or_else(|none| panic!("wrk is not installed: {none}"));
    let output = String::from_utf8(done.stdout).unwrap();
    let failed = ["Non-2xx", "Socket errors"]
        .iter()
        .any(|trouble| output.contains(trouble));
    assert!(done.status.success() && !failed, "{output}");
    let pace = output
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"));
    pace.unwrap().trim().parse().unwrap()
}
