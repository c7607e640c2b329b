//! What the tests stand on: a board, a server on a socket, the rows as data, and the log.

pub(crate) mod ask;
pub(crate) mod board;
pub(crate) mod commands;
pub(crate) mod log;
pub(crate) mod mood;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) use forum_test_support::schema;
pub(crate) mod server;
pub(crate) mod tokens;
pub(crate) mod walk;
pub(crate) mod world;

pub(crate) use ask::Ask;
pub(crate) use board::FullBoard;
pub(crate) use mood::{Gate, Mood};
pub(crate) use rows::{ROWS, Row, every_scope};
pub(crate) use server::Server;
pub(crate) use tokens::lookup;

use std::time::Duration;

use forum_api::test_util::TestResponse;

/// What is bound to come, and soon; if it does not, the test fails instead of waiting for ever.
pub(crate) async fn soon<T>(awaited: impl Future<Output = T>) -> T {
    let soon = tokio::time::timeout(Duration::from_secs(10), awaited);
    soon.await.unwrap()
}

/// The status of a response, and its error code.
pub(crate) type Outcome = (u16, Option<&'static str>);

pub(crate) const BAD_REQUEST: Outcome = (400, Some("bad_request"));
pub(crate) const UNAUTHENTICATED: Outcome = (401, Some("unauthenticated"));
pub(crate) const FORBIDDEN: Outcome = (403, Some("FORBIDDEN"));
pub(crate) const MISSING_SCOPE: Outcome = (403, Some("missing_scope"));
pub(crate) const OWNER_UNAVAILABLE: Outcome = (403, Some("owner_unavailable"));
pub(crate) const PATH_NOT_FOUND: Outcome = (404, Some("not_found"));
pub(crate) const NOT_FOUND: Outcome = (404, Some("NOT_FOUND"));
pub(crate) const NO_SUCH_ROUTE: Outcome = (404, Some("no_such_route"));
pub(crate) const CONFLICT: Outcome = (409, Some("CONFLICT"));
pub(crate) const RATE_LIMITED: Outcome = (429, Some("rate_limited"));
pub(crate) const INTERNAL_ERROR: Outcome = (500, Some("internal_error"));
pub(crate) const BOARD_OFFLINE: Outcome = (503, Some("board_offline"));

pub(crate) fn outcome(answer: &TestResponse) -> Outcome {
    (answer.status, answer.code())
}

/// A header that holds a number.
pub(crate) fn number(answer: &TestResponse, header: &str) -> i64 {
    answer.header(header).unwrap().parse().unwrap()
}

/// A refusal's message.
pub(crate) fn message(answer: &TestResponse) -> String {
    let json = answer.json();
    json["error"]["message"].as_str().unwrap_or_default().into()
}

/// An answer without what differs between any two: the request's id, and when and by whom it was charged.
pub(crate) fn bare(answer: &TestResponse) -> (u16, Vec<(String, String)>, String) {
    let varies =
        |name: &str| name.starts_with("x-ratelimit-") || matches!(name, "x-request-id" | "date");
    let headers = answer
        .headers
        .iter()
        .filter(|(name, _)| !varies(name.as_str()));
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let id = answer.header("x-request-id").unwrap();
    let body = std::str::from_utf8(&answer.body).unwrap();
    (answer.status, headers, body.replace(id, "id"))
}
