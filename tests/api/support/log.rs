//! The log of the test, at level TRACE.

pub(crate) use forum_test_support::thread_log::{start as capture, text};

use super::*;

/// Returns the log lines of the request with this response.
pub(crate) fn of(response: &TestResponse) -> String {
    let id = response.header("x-request-id").unwrap();
    let text = text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains(id)).collect();
    lines.join("\n")
}
