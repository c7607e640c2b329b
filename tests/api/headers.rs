//! Every status with its exact set of headers (`docs/protocol.md`, section 2.7).

use forum_api::model::ErrorCode;

use crate::support::*;

const ALWAYS: [&str; 9] = [
    "cache-control",
    "date",
    "vary",
    "x-content-type-options",
    "x-ratelimit-cost",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

const CACHED: &str = "private, no-cache";
const NO_STORE: &str = "no-store";

/// Caller of a request.
#[derive(Clone, Copy)]
enum RequestCaller {
    Guest,
    Alice,
    Banned,
    Scopeless,
    Exhausted,
}
use RequestCaller::*;

/// Prepares the board.
type Setup = fn(&FullBoard);

/// Caller, preparation, request, status, code, cache policy and additional headers.
struct Case(
    RequestCaller,
    Setup,
    Request,
    u16,
    &'static str,
    &'static str,
    &'static [&'static str],
);

fn no_setup(_: &FullBoard) {}

fn panics(board: &FullBoard) {
    board.set_mode(FailureMode::Panic);
}

fn offline_for_a_minute(board: &FullBoard) {
    *board.offline_for.lock().unwrap() = Some(Duration::from_secs(60));
    offline(board);
}

fn offline(board: &FullBoard) {
    board.set_offline(true);
}

fn fail_with(board: &FullBoard, error: fn() -> BoardError) {
    board.fail_with(error);
}

fn request(method: &str, path: &str) -> Request {
    Request::new(method, path)
}

fn reply(body: &str) -> Request {
    Request::post("/threads/open-1/posts", body)
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let thread = r#"{"title":"Tea","body":"Green?"}"#;
    let message = r#"{"to":["bob"],"subject":"Tea","body":"At five?"}"#;
    let good = r#"{"body":"Green."}"#;
    vec![
        Case(Guest, no_setup, request("GET", "/forums"), 200, "", CACHED, &["etag"]),
        Case(Guest, no_setup, request("GET", "/openapi.json"), 200, "", CACHED, &["etag"]),
        Case(Alice, no_setup, request("GET", "/me"), 200, "", NO_STORE, &["etag"]),
        Case(Alice, no_setup, request("GET", "/messages"), 200, "", NO_STORE, &["etag"]),
        Case(Alice, no_setup, request("GET", "/messages?limit=2"), 200, "", NO_STORE, &["etag", "link"]),
        Case(Alice, no_setup, request("GET", "/messages/alice-1"), 200, "", NO_STORE, &[]),
        Case(Guest, no_setup, request("GET", "/threads/open-1/posts?limit=2"), 200, "", CACHED, &["etag", "link"]),
        Case(Alice, no_setup, request("PATCH", "/polls/open-1").json(r#"{"maxChoices":2}"#), 200, "", CACHED, &[]),
        Case(Alice, no_setup, Request::post("/subscriptions", r#"{"target":"thread","targetId":"open-1"}"#), 200, "", CACHED, &[]),
        Case(Alice, no_setup, reply(good), 201, "", CACHED, &[]),
        Case(Alice, no_setup, reply(good).key("k"), 201, "", CACHED, &[]),
        Case(Alice, no_setup, reply(good).key("k"), 201, "", CACHED, &["idempotency-replayed"]),
        Case(Alice, no_setup, Request::post("/forums/open/threads", thread), 201, "", CACHED, &["location"]),
        Case(Alice, no_setup, Request::post("/messages", message), 201, "", NO_STORE, &["location"]),
        Case(Alice, no_setup, request("DELETE", "/threads/open-1/posts/open-1-1"), 204, "", CACHED, &[]),
        Case(Guest, no_setup, request("GET", "/forums").header("if-none-match", "*"), 304, "", CACHED, &["etag"]),
        Case(Alice, no_setup, request("GET", "/me").header("if-none-match", "*"), 304, "", NO_STORE, &["etag"]),
        Case(Guest, no_setup, request("GET", "/openapi.json").header("if-none-match", "*"), 304, "", CACHED, &["etag"]),
        Case(Guest, no_setup, request("GET", "/threads/open-1/posts?limit=2").header("if-none-match", "*"), 304, "", CACHED, &["etag", "link"]),
        Case(Alice, no_setup, request("GET", "/messages/alice-1").header("if-none-match", "*"), 200, "", NO_STORE, &[]),
        Case(Guest, no_setup, request("GET", "/threads/staff-1").header("if-none-match", "*"), 404, "not_found", NO_STORE, &[]),
        Case(Guest, no_setup, request("GET", "/forums?x=1"), 400, "bad_request", NO_STORE, &["x-error-field"]),
        Case(Alice, no_setup, reply("{"), 400, "bad_request", NO_STORE, &["x-error-field"]),
        Case(Guest, no_setup, request("GET", "/me"), 401, "unauthenticated", NO_STORE, &["www-authenticate"]),
        Case(Scopeless, no_setup, request("GET", "/me"), 403, "missing_scope", NO_STORE, &["www-authenticate"]),
        Case(Banned, no_setup, request("GET", "/me"), 403, "owner_unavailable", NO_STORE, &[]),
        Case(Alice, |b| fail_with(b, || BoardError::forbidden("No.")), reply(good), 403, "FORBIDDEN", NO_STORE, &[]),
        Case(Guest, no_setup, request("GET", "/nothing"), 404, "no_such_route", NO_STORE, &[]),
        Case(Guest, no_setup, request("OPTIONS", "/forums"), 404, "no_such_route", NO_STORE, &[]),
        Case(Guest, no_setup, request("GET", "/threads/staff-1"), 404, "not_found", NO_STORE, &[]),
        Case(Alice, |b| fail_with(b, || BoardError::not_found("No.")), reply(good), 404, "NOT_FOUND", NO_STORE, &[]),
        Case(Alice, |b| fail_with(b, || BoardError::conflict("No.")), reply(good), 409, "CONFLICT", NO_STORE, &[]),
        Case(Alice, no_setup, reply(r#"{"body":"other"}"#).key("k"), 409, "CONFLICT", NO_STORE, &["x-error-reason"]),
        Case(Alice, no_setup, reply("{}"), 422, "VALIDATION", NO_STORE, &["x-error-field"]),
        Case(Alice, no_setup, reply("{}").key("v"), 422, "VALIDATION", NO_STORE, &["x-error-field"]),
        Case(Alice, no_setup, reply("{}").key("v"), 422, "VALIDATION", NO_STORE, &["x-error-field"]),
        Case(Exhausted, no_setup, request("GET", "/me"), 429, "rate_limited", NO_STORE, &["retry-after"]),
        Case(Alice, |b| fail_with(b, || BoardError::rate_limited("No.").with_retry_after(Duration::from_millis(1))), reply(good), 429, "RATE_LIMITED", NO_STORE, &["retry-after"]),
        Case(Alice, |b| fail_with(b, || BoardError::rate_limited("No.")), reply(good), 429, "RATE_LIMITED", NO_STORE, &[]),
        Case(Alice, panics, reply(good), 500, "internal_error", NO_STORE, &[]),
        Case(Guest, panics, request("GET", "/forums"), 500, "internal_error", NO_STORE, &[]),
        Case(Alice, |b| fail_with(b, || BoardError::internal("the disk is full")), reply(good), 500, "internal_error", NO_STORE, &[]),
        Case(Guest, |b| fail_with(b, || BoardError::NotImplemented), request("GET", "/forums"), 501, "not_implemented", NO_STORE, &[]),
        Case(Guest, offline, request("GET", "/forums"), 503, "board_offline", NO_STORE, &[]),
        Case(Alice, offline, reply(good), 503, "board_offline", NO_STORE, &[]),
        Case(Guest, offline_for_a_minute, request("GET", "/forums"), 503, "board_offline", NO_STORE, &["retry-after"]),
        Case(Guest, no_setup, request("HEAD", "/forums"), 200, "", CACHED, &["etag"]),
        Case(Alice, no_setup, request("HEAD", "/messages/alice-1"), 200, "", NO_STORE, &[]),
        Case(Guest, no_setup, request("HEAD", "/threads/open-1/posts?limit=2"), 200, "", CACHED, &["etag", "link"]),
        Case(Guest, no_setup, request("HEAD", "/openapi.json"), 200, "", CACHED, &["etag"]),
        Case(Guest, no_setup, request("HEAD", "/forums").header("if-none-match", "*"), 304, "", CACHED, &["etag"]),
        Case(Guest, no_setup, request("HEAD", "/me"), 401, "unauthenticated", NO_STORE, &["www-authenticate"]),
        Case(Guest, no_setup, request("HEAD", "/threads/staff-1"), 404, "not_found", NO_STORE, &[]),
        Case(Guest, panics, request("HEAD", "/forums"), 500, "internal_error", NO_STORE, &[]),
    ]
}

#[tokio::test]
async fn every_response_has_exactly_its_headers() {
    let server = Server::new().listening().await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, settings().token_budget).await;
    let alice = server.token("alice").await;
    let banned = server.token("banned").await;
    let scopeless = server.token_with("alice", &[]).await;
    let mut ids = BTreeSet::new();
    for Case(by, given, request, status, code, cache, more) in cases() {
        let token = match by {
            Guest => None,
            Alice => Some(&alice),
            Banned => Some(&banned),
            Scopeless => Some(&scopeless),
            Exhausted => Some(&exhausted),
        };
        given(&server.board);
        let request = request.maybe_bearer(token);
        let response = server.send(&request).await;
        server.board.set_mode(FailureMode::None);
        server.board.set_offline(false);
        let case = format!("{request:?}: {response:?}");
        assert_eq!(response.status, status, "{case}");
        let has_body = status != 204 && status != 304;
        let entity: &[_] = if has_body { &["content-type", "content-length"] } else { &[] };
        let expected: BTreeSet<_> = ALWAYS.iter().chain(entity).chain(more).copied().collect();
        let sent: BTreeSet<&str> = response.headers.keys().map(AsRef::as_ref).collect();
        assert_eq!(sent, expected, "{case}");
        assert_eq!(response.headers.len(), expected.len(), "no header is repeated: {case}");
        check_values(&response, cache);
        if has_body && !request.is_head() {
            check_error(&response, code);
        } else {
            assert!(response.body.is_empty(), "{case}");
        }
        let id = response.header("x-request-id").unwrap().to_owned();
        assert!(ids.insert(id), "each request has an id of its own: {case}");
    }
}

#[tokio::test]
async fn the_request_id_of_a_client_is_only_logged() {
    let server = Server::new();
    let long = "x".repeat(65);
    for (own, is_logged) in
        [("Az09._-", true), (&long[..64], true), (&*long, false), ("a b", false), ("a/b", false)]
    {
        let response = server.send(&request("GET", "/me").header("x-request-id", own)).await;
        let id = response.header("x-request-id").unwrap();
        assert_ne!(id, own);
        assert_eq!(response.json()["error"]["requestId"], id);
        let field = format!("client_request_id=\"{own}\"");
        assert_eq!(log::of(&response).contains(&field), is_logged, "{own}");
    }
}

fn check_values(response: &TestResponse, cache: &str) {
    assert_eq!(response.header("cache-control"), Some(cache));
    assert_eq!(response.header("vary"), Some("authorization"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(number(response, "x-ratelimit-limit"), 1_000_000);
    assert!(number(response, "x-ratelimit-remaining") <= 1_000_000);
    assert_eq!(number(response, "x-ratelimit-reset"), 1_767_225_600 + 300);
    let challenge = match response.status {
        403 => r#"Bearer error="insufficient_scope", scope="members:read""#,
        _ => "Bearer",
    };
    let wait = match response.code() {
        Some(ErrorCode::RateLimited) => "300",
        Some(ErrorCode::BoardOffline) => "60",
        _ => "1",
    };
    for (header, value) in [
        ("content-type", "application/json"),
        ("www-authenticate", challenge),
        ("idempotency-replayed", "true"),
        ("retry-after", wait),
    ] {
        assert!(response.header(header).is_none_or(|sent| sent == value));
    }
}

fn check_error(response: &TestResponse, code: &str) {
    let json = response.json();
    let length = number(response, "content-length");
    assert_eq!(response.body.len() as i64, length);
    if code.is_empty() {
        assert!(json.get("error").is_none());
        return;
    }
    let id = response.header("x-request-id").unwrap();
    let error = &json["error"];
    assert_eq!(json.as_object().unwrap().len(), 1);
    assert_eq!(error.as_object().unwrap().len(), 3);
    assert_eq!(error["code"], code);
    assert!(!error["message"].as_str().unwrap().is_empty());
    assert_eq!(error["requestId"], id);
}
