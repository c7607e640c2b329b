//! One order of refusals for every endpoint: the first step that refuses gives the answer (contract, section 1).

use std::collections::BTreeSet;

use forum_api::scope::Surface;

use crate::support::server::settings;
use crate::support::{Ask, Mood, Server, outcome};

/// A request with everything wrong at once, set right one thing at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
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
use Wrong::*;

const STEPS: [(Wrong, u16, &str); 11] = [
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

async fn with(wrong: &BTreeSet<Wrong>) -> (u16, Option<&'static str>) {
    let is = |cause| wrong.contains(&cause);
    let server = Server::new().listening().await;
    let scopes: &[&str] = if is(Scope) {
        &["forums:read"]
    } else {
        &["posts:write"]
    };
    let token = server.token_with("alice", scopes).await;
    if !is(Scope) {
        let used = Ask::post("/threads/open-1/posts", r#"{"body":"first"}"#).key("k");
        assert_eq!(server.send(&used.bearer(&token)).await.status, 201);
    }
    if is(Budget) {
        server.spend(&token, settings().token_window).await;
    }
    if is(Owner) {
        server.board.ban("alice");
    }
    server.board.go_offline(is(Offline));
    let thread = match (is(Path), is(Hidden)) {
        (true, _) => "no+id",
        (_, true) => "staff-1",
        _ => "open-1",
    };
    let path = format!(
        "/threads/{thread}/posts{}",
        if is(Route) { "/" } else { "" }
    );
    let body = match (is(Input), is(Command)) {
        (true, _) => "{",
        (_, true) => "{}",
        _ => r#"{"body":"Green."}"#,
    };
    let ask = Ask::post(&path, body).key(if is(Key) { "k" } else { "new" });
    outcome(
        &server
            .send(&ask.bearer(if is(Token) { "nonsense" } else { &token }))
            .await,
    )
}

#[tokio::test]
async fn the_first_step_that_refuses_gives_the_answer() {
    for (step, (_, status, code)) in STEPS.iter().enumerate() {
        let wrong = STEPS[step..].iter().map(|(wrong, ..)| *wrong).collect();
        assert_eq!(with(&wrong).await, (*status, Some(*code)));
    }
    assert_eq!(with(&BTreeSet::new()).await, (201, None));
}

/// Nothing is asked of the board before step 8, and no command is run before step 10.
#[tokio::test]
async fn what_is_refused_early_never_reaches_the_board() {
    let server = Server::new().listening().await;
    server.board.be(Mood::Panics);
    let alice = server.token("alice").await;
    for (ask, status) in [
        (Ask::get("/nothing"), 404),
        (Ask::get("/me"), 401),
        (Ask::get("/forums?x=1"), 400),
        (Ask::get("/forums/staff/threads"), 404),
        (
            Ask::post("/threads/staff-1/posts", r#"{"body":"x"}"#).bearer(&alice),
            404,
        ),
        (
            Ask::new("DELETE", "/threads/staff-1/posts/staff-1-1").bearer(&alice),
            404,
        ),
        (
            Ask::post("/polls/staff-1/votes", r#"{"optionIds":["1"]}"#).bearer(&alice),
            404,
        ),
        (
            Ask::post("/threads/open-1/posts", "{}")
                .key(" ")
                .bearer(&alice),
            400,
        ),
    ] {
        assert_eq!(server.send(&ask).await.status, status, "{ask:?}");
    }
    assert!(server.board.calls().is_empty());
}

/// `subscribe: true` needs the scope of `POST /subscriptions`. The check follows the decoding of the body and precedes
/// the visibility check.
#[tokio::test]
async fn subscribe_needs_its_scope_after_step_7_and_before_step_8() {
    const OWN: [&str; 2] = ["threads:write", "posts:write"];
    let both = [OWN[0], OWN[1], "subscriptions:write"];
    let refused = (403, Some("missing_scope"));
    let server = Server::new();
    let (lacks, carries) = (
        server.token_with("alice", &OWN).await,
        server.token_with("alice", &both).await,
    );
    for (collection, hidden, fields) in [
        (
            "/forums/open/threads",
            "/forums/staff/threads",
            r#""title":"x","body":"x""#,
        ),
        (
            "/threads/open-1/posts",
            "/threads/staff-1/posts",
            r#""body":"x""#,
        ),
    ] {
        for (path, subscribe, without, with) in [
            (collection, r#","subscribe":true"#, refused, (201, None)),
            (
                collection,
                r#","subscribe":false"#,
                (201, None),
                (201, None),
            ),
            (collection, "", (201, None), (201, None)),
            (
                hidden,
                r#","subscribe":true"#,
                refused,
                (404, Some("not_found")),
            ),
            (
                collection,
                r#","subscribe":true,"x":1"#,
                (400, Some("bad_request")),
                (400, Some("bad_request")),
            ),
            (
                collection,
                r#","subscribe":1"#,
                (400, Some("bad_request")),
                (400, Some("bad_request")),
            ),
        ] {
            let body = format!("{{{fields}{subscribe}}}");
            for (token, expected) in [(&lacks, without), (&carries, with)] {
                let calls = server.board.calls().len();
                let answer = server.send(&Ask::post(path, &body).bearer(token)).await;
                assert_eq!(outcome(&answer), expected, "{path} {body}");
                let ran = server.board.calls().len() - calls;
                assert_eq!(ran, usize::from(answer.status == 201), "{path} {body}");
            }
        }
    }
}

#[tokio::test]
async fn the_compact_surface_refuses_subscribe_to_every_token() {
    let server = Server::on(Surface::Compact);
    let every = server.token("alice").await;
    for (subscribe, status, code) in [("true", 403, Some("missing_scope")), ("false", 201, None)] {
        let body = format!(r#"{{"body":"x","subscribe":{subscribe}}}"#);
        let ask = Ask::post("/threads/open-1/posts", &body).bearer(&every);
        assert_eq!(outcome(&server.send(&ask).await), (status, code));
    }
    assert_eq!(server.board.calls().len(), 1);
}
