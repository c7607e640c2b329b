//! Load, made by `wrk`.

use std::env;
use std::net::SocketAddr;
use std::process::Command;

/// How many requests a second are answered, all of them well.
pub fn requests_a_second(server: SocketAddr, path: &str, bearer: &str) -> f64 {
    let seconds = env::var("TURN").unwrap_or_else(|_| "2".into());
    let told = Command::new("wrk")
        .args(["-t1", "-c64", &format!("-d{seconds}s")])
        .args(["-H", &format!("authorization: {bearer}")])
        .arg(format!("http://{server}{path}"))
        .output()
        .unwrap_or_else(|none| panic!("wrk has to be installed: {none}"));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        !told.contains("Non-2xx") && !told.contains("Socket errors"),
        "{told}"
    );
    let rate = told.split("Requests/sec:").nth(1).unwrap();
    rate.split_whitespace().next().unwrap().parse().unwrap()
}
