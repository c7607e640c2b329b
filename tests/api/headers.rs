//! Every status, and exactly the headers that its response carries (`docs/protocol.md`, section 2.7).

use std::collections::BTreeSet;
use std::time::Duration;

use forum_api::host::BoardError;
use forum_api::test_util::TestResponse;

use crate::support::server::settings;
use crate::support::*;

const ALWAYS: [&str; 8] = [
    "cache-control",
    "date",
    "vary",
    "x-content-type-options",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

const KEPT: &str = "private, no-cache";
const NEVER_KEPT: &str = "no-store";

/// Who asks.
#[derive(Clone, Copy)]
enum By {
    Guest,
    Alice,
    Banned,
    Scopeless,
    Spent,
}
use By::*;

/// What the board is like meanwhile.
type Given = fn(&FullBoard);

/// A request, its status and code, how its answer may be kept, and which headers it has beyond those of every answer.
struct Case(
    By,
    Given,
    Ask,
    u16,
    &'static str,
    &'static str,
    &'static [&'static str],
);

fn well(_: &FullBoard) {}

fn panics(board: &FullBoard) {
    board.be(Mood::Panics);
}

fn offline(board: &FullBoard) {
    board.go_offline(true);
}

fn refuses(board: &FullBoard, refusal: fn() -> BoardError) {
    board.be(Mood::Refuses(refusal));
}

fn ask(method: &str, path: &str) -> Ask {
    Ask::new(method, path)
}

fn reply(body: &str) -> Ask {
    Ask::post("/threads/open-1/posts", body)
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let thread = r#"{"title":"Tea","body":"Green?"}"#;
    let message = r#"{"to":["bob"],"subject":"Tea","body":"At five?"}"#;
    let good = r#"{"body":"Green."}"#;
    vec![
        Case(Guest, well, ask("GET", "/forums"), 200, "", KEPT, &["etag"]),
        Case(Guest, well, ask("GET", "/openapi.json"), 200, "", KEPT, &["etag"]),
        Case(Alice, well, ask("GET", "/me"), 200, "", NEVER_KEPT, &["etag"]),
        Case(Alice, well, ask("GET", "/messages"), 200, "", NEVER_KEPT, &["etag"]),
        Case(Alice, well, ask("GET", "/messages?limit=2"), 200, "", NEVER_KEPT, &["etag", "link"]),
        Case(Alice, well, ask("GET", "/messages/alice-1"), 200, "", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/threads/open-1/posts?limit=2"), 200, "", KEPT, &["etag", "link"]),
        Case(Alice, well, ask("PATCH", "/polls/open-1").json(r#"{"maxChoices":2}"#), 200, "", KEPT, &[]),
        Case(Alice, well, Ask::post("/subscriptions", r#"{"target":"thread","targetId":"open-1"}"#), 200, "", KEPT, &[]),
        Case(Alice, well, reply(good), 201, "", KEPT, &[]),
        Case(Alice, well, reply(good).key("k"), 201, "", KEPT, &[]),
        Case(Alice, well, reply(good).key("k"), 201, "", KEPT, &["idempotency-replayed"]),
        Case(Alice, well, Ask::post("/forums/open/threads", thread), 201, "", KEPT, &["location"]),
        Case(Alice, well, Ask::post("/messages", message), 201, "", NEVER_KEPT, &["location"]),
        Case(Alice, well, ask("DELETE", "/threads/open-1/posts/open-1-1"), 204, "", KEPT, &[]),
        Case(Guest, well, ask("GET", "/forums").header("if-none-match", "*"), 304, "", KEPT, &["etag"]),
        Case(Alice, well, ask("GET", "/me").header("if-none-match", "*"), 304, "", NEVER_KEPT, &["etag"]),
        Case(Guest, well, ask("GET", "/openapi.json").header("if-none-match", "*"), 304, "", KEPT, &["etag"]),
        Case(Guest, well, ask("GET", "/threads/open-1/posts?limit=2").header("if-none-match", "*"), 304, "", KEPT, &["etag", "link"]),
        Case(Alice, well, ask("GET", "/messages/alice-1").header("if-none-match", "*"), 200, "", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/threads/staff-1").header("if-none-match", "*"), 404, "not_found", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/forums?x=1"), 400, "bad_request", NEVER_KEPT, &[]),
        Case(Alice, well, reply("{"), 400, "bad_request", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/me"), 401, "unauthenticated", NEVER_KEPT, &["www-authenticate"]),
        Case(Scopeless, well, ask("GET", "/me"), 403, "missing_scope", NEVER_KEPT, &[]),
        Case(Banned, well, ask("GET", "/me"), 403, "owner_unavailable", NEVER_KEPT, &[]),
        Case(Alice, |b| refuses(b, || BoardError::Forbidden("No.".into())), reply(good), 403, "FORBIDDEN", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/nothing"), 404, "no_such_route", NEVER_KEPT, &[]),
        Case(Guest, well, ask("OPTIONS", "/forums"), 404, "no_such_route", NEVER_KEPT, &[]),
        Case(Guest, well, ask("GET", "/threads/staff-1"), 404, "not_found", NEVER_KEPT, &[]),
        Case(Alice, |b| refuses(b, || BoardError::NotFound("No.".into())), reply(good), 404, "NOT_FOUND", NEVER_KEPT, &[]),
        Case(Alice, |b| refuses(b, || BoardError::Conflict("No.".into())), reply(good), 409, "CONFLICT", NEVER_KEPT, &[]),
        Case(Alice, well, reply(r#"{"body":"other"}"#).key("k"), 409, "CONFLICT", NEVER_KEPT, &[]),
        Case(Alice, well, reply("{}"), 422, "VALIDATION", NEVER_KEPT, &[]),
        Case(Alice, well, reply("{}").key("v"), 422, "VALIDATION", NEVER_KEPT, &[]),
        Case(Alice, well, reply("{}").key("v"), 422, "VALIDATION", NEVER_KEPT, &[]),
        Case(Spent, well, ask("GET", "/me"), 429, "rate_limited", NEVER_KEPT, &["retry-after"]),
        Case(Alice, |b| refuses(b, || BoardError::RateLimited("No.".into(), Some(Duration::from_millis(1)))), reply(good), 429, "RATE_LIMITED", NEVER_KEPT, &["retry-after"]),
        Case(Alice, |b| refuses(b, || BoardError::RateLimited("No.".into(), None)), reply(good), 429, "RATE_LIMITED", NEVER_KEPT, &[]),
        Case(Alice, panics, reply(good), 500, "internal_error", NEVER_KEPT, &[]),
        Case(Guest, panics, ask("GET", "/forums"), 500, "internal_error", NEVER_KEPT, &[]),
        Case(Alice, |b| refuses(b, || BoardError::internal("the disk is full")), reply(good), 500, "internal_error", NEVER_KEPT, &[]),
        Case(Guest, |b| refuses(b, || BoardError::NotImplemented), ask("GET", "/forums"), 501, "not_implemented", NEVER_KEPT, &[]),
        Case(Guest, offline, ask("GET", "/forums"), 503, "board_offline", NEVER_KEPT, &[]),
        Case(Alice, offline, reply(good), 503, "board_offline", NEVER_KEPT, &[]),
        Case(Guest, well, ask("HEAD", "/forums"), 200, "", KEPT, &["etag"]),
        Case(Alice, well, ask("HEAD", "/messages/alice-1"), 200, "", NEVER_KEPT, &[]),
        Case(Guest, well, ask("HEAD", "/threads/open-1/posts?limit=2"), 200, "", KEPT, &["etag", "link"]),
        Case(Guest, well, ask("HEAD", "/openapi.json"), 200, "", KEPT, &["etag"]),
        Case(Guest, well, ask("HEAD", "/forums").header("if-none-match", "*"), 304, "", KEPT, &["etag"]),
        Case(Guest, well, ask("HEAD", "/me"), 401, "unauthenticated", NEVER_KEPT, &["www-authenticate"]),
        Case(Guest, well, ask("HEAD", "/threads/staff-1"), 404, "not_found", NEVER_KEPT, &[]),
        Case(Guest, panics, ask("HEAD", "/forums"), 500, "internal_error", NEVER_KEPT, &[]),
    ]
}

#[tokio::test]
async fn every_response_has_exactly_its_headers() {
    let server = Server::new().listening().await;
    let spent = server.token("alice").await;
    server.spend(&spent, settings().token_budget).await;
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let scopeless = server.token_with("alice", &[]).await;
    let mut ids = BTreeSet::new();
    for Case(by, given, ask, status, code, cache, more) in cases() {
        let token = match by {
            Guest => None,
            Alice => Some(&alice),
            Banned => Some(&banned),
            Scopeless => Some(&scopeless),
            Spent => Some(&spent),
        };
        given(&server.board);
        let ask = ask.by(token);
        let answer = server.send(&ask).await;
        server.board.be(Mood::Well);
        server.board.go_offline(false);
        let case = format!("{ask:?}: {answer:?}");
        assert_eq!(answer.status, status, "{case}");
        let has_body = status != 204 && status != 304;
        let entity: &[_] = if has_body {
            &["content-type", "content-length"]
        } else {
            &[]
        };
        let expected: BTreeSet<_> = ALWAYS.iter().chain(entity).chain(more).copied().collect();
        let found: BTreeSet<&str> = answer.headers.keys().map(AsRef::as_ref).collect();
        assert_eq!(found, expected, "{case}");
        assert_eq!(
            answer.headers.len(),
            expected.len(),
            "no header is repeated: {case}"
        );
        check_values(&answer, cache);
        if has_body && !ask.is_head() {
            check_error(&answer, code);
        } else {
            assert!(answer.body.is_empty(), "{case}");
        }
        let id = answer.header("x-request-id").unwrap().to_owned();
        assert!(ids.insert(id), "each request has an id of its own: {case}");
    }
}

/// The client's own id is logged beside the new one if it is short and plain.
#[tokio::test]
async fn the_clients_own_request_id_is_only_logged() {
    let server = Server::new();
    let long = "x".repeat(65);
    for (own, is_logged) in [
        ("Az09._-", true),
        (&long[..64], true),
        (&*long, false),
        ("a b", false),
        ("a/b", false),
    ] {
        let answer = server
            .send(&ask("GET", "/me").header("x-request-id", own))
            .await;
        let id = answer.header("x-request-id").unwrap();
        assert_ne!(id, own);
        assert_eq!(answer.json()["error"]["requestId"], id);
        let field = format!("client_request_id=\"{own}\"");
        assert_eq!(log::of(&answer).contains(&field), is_logged, "{own}");
    }
}

fn check_values(answer: &TestResponse, cache: &str) {
    assert_eq!(answer.header("cache-control"), Some(cache));
    assert_eq!(answer.header("vary"), Some("authorization"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(number(answer, "x-ratelimit-remaining") <= number(answer, "x-ratelimit-limit"));
    assert_eq!(number(answer, "x-ratelimit-reset"), 1_767_225_600 + 300);
    for (header, value) in [
        ("content-type", "application/json"),
        ("www-authenticate", "Bearer"),
        ("idempotency-replayed", "true"),
    ] {
        assert!(answer.header(header).is_none_or(|found| found == value));
    }
    assert!(answer.header("retry-after").is_none() || number(answer, "retry-after") >= 1);
}

fn check_error(answer: &TestResponse, code: &str) {
    let json = answer.json();
    assert_eq!(answer.body.len() as i64, number(answer, "content-length"));
    if code.is_empty() {
        assert!(json.get("error").is_none());
        return;
    }
    let id = answer.header("x-request-id").unwrap();
    let error = &json["error"];
    assert_eq!(json.as_object().unwrap().len(), 1);
    assert_eq!(error.as_object().unwrap().len(), 3);
    assert_eq!(error["code"], code);
    assert!(!error["message"].as_str().unwrap().is_empty());
    assert_eq!(error["requestId"], id);
}
