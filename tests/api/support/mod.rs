//! Fixtures: a board, a server, the endpoints as data, and the log.

pub(crate) mod board;
pub(crate) mod commands;
pub(crate) mod failure_mode;
pub(crate) mod fixtures;
pub(crate) mod log;
pub(crate) mod paging;
pub(crate) mod request;
pub(crate) mod rows;
pub(crate) mod server;
pub(crate) mod tokens;

pub(crate) use board::FullBoard;
pub(crate) use failure_mode::{Checkpoint, DOMAIN_ERRORS, FailureMode, OVERLOADED};
pub(crate) use forum_test_support::schema::{self, resolve_ref};
pub(crate) use request::Request;
pub(crate) use rows::{FULL_SCOPES, ROWS, Row, every_scope, rows};
pub(crate) use server::{Server, settings};
pub(crate) use tokens::lookup;

pub(crate) use std::collections::BTreeSet;
pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;

pub(crate) use forum_api::host::{Authorizer, Board, BoardError, BoardResult, Caller, Host};
pub(crate) use forum_api::host::{InForum, ResourceRef};
pub(crate) use forum_api::model::{ForumId, UserId};
pub(crate) use forum_api::runtime::Clock;
pub(crate) use forum_api::scope::{Scope, Surface};
pub(crate) use forum_api::store::Stores;
pub(crate) use forum_api::test_util::{Intervention, TestResponse};
pub(crate) use forum_api::webhook::Topic;
pub(crate) use forum_api::{ApiSettings, Environment, ForumApi, async_trait};
pub(crate) use serde_json::{Value, json};

use forum_api::model::ErrorCode;

/// Awaits a future, and fails after 10 s.
pub(crate) async fn within_ten_seconds<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, future).await.unwrap()
}

/// The status of a response, and its error code.
pub(crate) type Outcome = (u16, Option<&'static str>);

pub(crate) const BAD_REQUEST: Outcome = (400, Some("bad_request"));
pub(crate) const UNAUTHENTICATED: Outcome = (401, Some("unauthenticated"));
pub(crate) const MISSING_SCOPE: Outcome = (403, Some("missing_scope"));
pub(crate) const OWNER_UNAVAILABLE: Outcome = (403, Some("owner_unavailable"));
pub(crate) const PATH_NOT_FOUND: Outcome = (404, Some("not_found"));
pub(crate) const NOT_FOUND: Outcome = (404, Some("NOT_FOUND"));
pub(crate) const NO_SUCH_ROUTE: Outcome = (404, Some("no_such_route"));
pub(crate) const CONFLICT: Outcome = (409, Some("CONFLICT"));
pub(crate) const RATE_LIMITED: Outcome = (429, Some("rate_limited"));
pub(crate) const INTERNAL_ERROR: Outcome = (500, Some("internal_error"));
pub(crate) const NOT_RUN: Outcome = (503, Some("internal_error"));
pub(crate) const BOARD_OFFLINE: Outcome = (503, Some("board_offline"));

pub(crate) fn outcome(response: &TestResponse) -> Outcome {
    (response.status, response.code().map(ErrorCode::as_str))
}

/// Parses a numeric header.
pub(crate) fn number(response: &TestResponse, header: &str) -> i64 {
    response.header(header).unwrap().parse().unwrap()
}

/// Returns the message of an error response.
pub(crate) fn message(response: &TestResponse) -> String {
    let json = response.json();
    json["error"]["message"].as_str().unwrap_or_default().into()
}

/// Returns status, headers and body without the parts that differ between equal requests: id, date and rate limit.
pub(crate) fn comparable_parts(response: &TestResponse) -> (u16, Vec<(String, String)>, String) {
    let varies =
        |name: &str| name.starts_with("x-ratelimit-") || matches!(name, "x-request-id" | "date");
    let mut headers: Vec<_> = response
        .headers
        .iter()
        .filter(|(name, _)| !varies(name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let id = response.header("x-request-id").unwrap();
    let body = std::str::from_utf8(&response.body).unwrap();
    (response.status, headers, body.replace(id, "id"))
}
