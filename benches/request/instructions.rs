//! How many instructions a request takes, as callgrind counts them: the same on each machine of a kind.

use std::env;
use std::hint::black_box;
use std::process::Command;

use bytes::Bytes;
use http::Request;
use http_body_util::Empty;

use crate::measurements::{Goal, Samples, row};
use crate::static_board::{BenchFixture, SMALL};

/// Set in the process whose instructions are counted.
const COUNTED: &str = "FORUM_API_COUNTED";

/// So many are answered while callgrind counts.
const REQUESTS: usize = 1_000;

/// Counts those of this very program, of one function in it.
pub fn count() {
    let counted = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*answer_each*")
        .arg(env::current_exe().unwrap())
        .env(COUNTED, "")
        .output();
    let Ok(counted) = counted else {
        println!("left out: instructions of a request, as valgrind is not installed");
        return;
    };
    let told = String::from_utf8(counted.stderr).unwrap();
    let line = told.split("Collected : ").nth(1);
    let sum: f64 = line
        .and_then(|rest| rest.lines().next()?.trim().parse().ok())
        .unwrap_or_else(|| panic!("{told}"));
    let each = Samples::from_iter([sum / REQUESTS as f64]);
    row(
        "the same request",
        "instructions",
        "none",
        Goal::AtMost(40_000.0),
        &each,
    );
}

/// Answers requests if they are to be counted.
pub fn are_counted_here(rig: &BenchFixture) -> bool {
    let counted = env::var_os(COUNTED).is_some();
    if counted {
        // What is done but once is done by the first.
        rig.answer(rig.request(SMALL));
        answer_each(rig, (0..REQUESTS).map(|_| rig.request(SMALL)).collect());
    }
    counted
}

#[inline(never)]
fn answer_each(rig: &BenchFixture, requests: Vec<Request<Empty<Bytes>>>) {
    for request in requests {
        black_box(rig.answer(request));
    }
}
