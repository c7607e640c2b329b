//! One order of refusals for every endpoint: the first step that refuses gives the answer (contract, section 1).

use std::collections::BTreeSet;

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
