//! Instructions of a request, counted by callgrind: the same on each machine with the same instruction set.

use std::env;
use std::hint::black_box;
use std::process::Command;

use bytes::Bytes;
use http::Request;
use http_body_util::Empty;

use crate::measurements::{Goal, Samples, row};
use crate::static_board::{BenchFixture, SMALL};

/// Environment variable of the process whose instructions are counted.
const COUNTED: &str = "FORUM_API_COUNTED";

/// Number of requests during the count.
const REQUESTS: usize = 1_000;

/// Runs this program under callgrind and counts the instructions of one function.
pub fn count() {
    let counted = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*answer_each*")
        .arg(env::current_exe().unwrap())
        .env(COUNTED, "")
        .output();
    let Ok(counted) = counted else {
        println!("skipped: instructions of a request, since valgrind is not installed");
        return;
    };
    let output = String::from_utf8(counted.stderr).unwrap();
    let line = output.split("Collected : ").nth(1);
    let sum: f64 = line
        .and_then(|rest| rest.lines().next()?.trim().parse().ok())
        // A program without symbols has no such function.
        .filter(|sum| *sum > 0.0)
        .unwrap_or_else(|| panic!("{output}"));
    let each = Samples::from_iter([sum / REQUESTS as f64]);
    row(
        "request in process, 300-byte response",
        "instructions",
        "none",
        Goal::AtMost(22_000.0),
        &each,
    );
}

/// Runs the requests if this is the process whose instructions are counted. Returns whether it is.
pub fn run_if_counted(fixture: &BenchFixture) -> bool {
    let counted = env::var_os(COUNTED).is_some();
    if counted {
        // Warm-up: one-time initialization.
        fixture.answer(fixture.request(SMALL));
        answer_each(
            fixture,
            (0..REQUESTS).map(|_| fixture.request(SMALL)).collect(),
        );
    }
    counted
}

#[inline(never)]
fn answer_each(fixture: &BenchFixture, requests: Vec<Request<Empty<Bytes>>>) {
    for request in requests {
        black_box(fixture.answer(request));
    }
}
