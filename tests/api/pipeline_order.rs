//! Order of the steps: the first one that rejects a request determines the response (`docs/protocol.md`, section 2.1).

use crate::support::*;

/// Reason to reject a request. A request with all reasons is repaired step by step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rejection {
    Route,
    Token,
    Budget,
    Scope,
    Owner,
    Offline,
    Path,
    Input,
    Hidden,
    Key,
    Command,
}
use Rejection::*;

const STEPS: [(Rejection, u16, &str); 11] = [
    (Route, 404, "no_such_route"),
    (Token, 401, "unauthenticated"),
    (Budget, 429, "rate_limited"),
    (Scope, 403, "missing_scope"),
    (Owner, 403, "owner_unavailable"),
    (Offline, 503, "board_offline"),
    (Path, 404, "not_found"),
    (Input, 400, "bad_request"),
    (Hidden, 404, "not_found"),
    (Key, 409, "CONFLICT"),
    (Command, 422, "VALIDATION"),
];

async fn with(server: Server, wrong: &BTreeSet<Rejection>) -> Outcome {
    let is = |cause| wrong.contains(&cause);
    let server = server.listening().await;
    let scope = if is(Scope) { "forums:read" } else { "posts:write" };
    let token = server.token_with("alice", &[scope]).await;
    if !is(Scope) {
        let used = Request::post("/threads/open-1/posts", r#"{"body":"first"}"#).key("k");
        server.expect(used.bearer(&token), (201, None)).await;
    }
    if is(Budget) {
        server.exhaust(&token, settings().token_budget).await;
    }
    if is(Owner) {
        server.board.ban("alice");
    }
    server.board.set_offline(is(Offline));
    let thread = match (is(Path), is(Hidden)) {
        (true, _) => "no+id",
        (_, true) => "staff-1",
        _ => "open-1",
    };
    let slash = if is(Route) { "/" } else { "" };
    let body = match (is(Input), is(Command)) {
        (true, _) => "{",
        (_, true) => "{}",
        _ => r#"{"body":"Green."}"#,
    };
    let key = if is(Key) { "k" } else { "new" };
    let request = Request::post(&format!("/threads/{thread}/posts{slash}"), body).key(key);
    server.outcome_for(if is(Token) { "nonsense" } else { &token }, request).await
}

#[tokio::test]
async fn the_first_step_that_rejects_determines_the_response() {
    for server in [Server::new, || Server::with_token_loading().0] {
        for (step, (_, status, code)) in STEPS.iter().enumerate() {
            let wrong = STEPS[step..].iter().map(|(wrong, ..)| *wrong).collect();
            assert_eq!(with(server(), &wrong).await, (*status, Some(*code)));
        }
        assert_eq!(with(server(), &BTreeSet::new()).await, (201, None));
    }
}

/// `subscribe: true` needs the scope of `POST /subscriptions`. The check follows the decoding of the body and precedes
/// the visibility check.
#[tokio::test]
async fn subscribe_needs_its_scope_after_step_7_and_before_step_8() {
    const OWN: [&str; 2] = ["threads:write", "posts:write"];
    const CREATED: Outcome = (201, None);
    let server = Server::new();
    let lacks = server.token_with("alice", &OWN).await;
    let scopes = [OWN[0], OWN[1], "subscriptions:write"];
    let carries = server.token_with("alice", &scopes).await;
    let thread = ("/forums/FORUM/threads", r#""title":"x","body":"x""#);
    let reply = ("/threads/FORUM-1/posts", r#""body":"x""#);
    for (path, fields) in [thread, reply] {
        #[rustfmt::skip]
        let cases = [
            ("open", r#","subscribe":true"#, MISSING_SCOPE, CREATED),
            ("open", r#","subscribe":false"#, CREATED, CREATED),
            ("open", "", CREATED, CREATED),
            ("staff", r#","subscribe":true"#, MISSING_SCOPE, PATH_NOT_FOUND),
            ("open", r#","subscribe":true,"x":1"#, BAD_REQUEST, BAD_REQUEST),
            ("open", r#","subscribe":1"#, BAD_REQUEST, BAD_REQUEST),
        ];
        for (forum, subscribe, without, with) in cases {
            let path = path.replace("FORUM", forum);
            let body = format!("{{{fields}{subscribe}}}");
            for (token, expected) in [(&lacks, without), (&carries, with)] {
                let calls = server.board.calls().len();
                let outcome = server.outcome_for(token, Request::post(&path, &body)).await;
                assert_eq!(outcome, expected, "{path} {body}");
                let ran = server.board.calls().len() - calls;
                assert_eq!(ran, usize::from(outcome == CREATED), "{path} {body}");
            }
        }
    }
}

#[tokio::test]
async fn the_compact_surface_rejects_subscribe_for_every_token() {
    let server = Server::on(Surface::Compact);
    let every = server.token("alice").await;
    for (subscribe, expected) in [(true, MISSING_SCOPE), (false, (201, None))] {
        let body = format!(r#"{{"body":"x","subscribe":{subscribe}}}"#);
        let request = Request::post("/threads/open-1/posts", &body);
        server.expect(request.bearer(&every), expected).await;
    }
    assert_eq!(server.board.calls().len(), 1);
}
