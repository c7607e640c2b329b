//! Each code of both error tables, raised by a server that runs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::minimal::Minimal;
use crate::program::Server;
use crate::road::{number, refusal};

/// Status, code, and how a new server comes to answer so.
type Row = (u16, &'static str, fn(&Server) -> Answer);

#[rustfmt::skip]
const ROWS: [Row; 15] = [
    (400, "bad_request", |server| get(&server.api("/forums?sort=newest"))),
    (401, "unauthenticated", |server| get(&server.api("/me"))),
    (403, "missing_scope", |server| server.get(&server.token_with("bob", "forums:read"), "/me")),
    (403, "owner_unavailable", |server| server.get(&server.token("mallory"), "/me")),
    (404, "no_such_route", |server| get(&server.api("/nowhere"))),
    (404, "not_found", |server| get(&server.api("/threads/999"))),
    (429, "rate_limited", over_the_budget),
    (500, "internal_error", without_a_table),
    (501, "not_implemented", |_| get(&Minimal::new().api("/forums/1/threads"))),
    (503, "board_offline", offline),
    (403, "FORBIDDEN", |server| start_thread(server, "1")),
    (404, "NOT_FOUND", follow_nothing),
    (409, "CONFLICT", rate_twice),
    (422, "VALIDATION", |server| start_thread(server, "2")),
    (429, "RATE_LIMITED", rate_too_often),
];

#[test]
fn each_code_is_raised_with_its_status_and_in_its_shape() {
    for (status, code, raise) in ROWS {
        let refused = raise(&Server::new(&[]));
        assert_eq!(refusal(&refused), (status, code.into()));
        let error = &refused.json()["error"];
        let fields = ["code", "message", "requestId"];
        assert!(error.as_object().unwrap().keys().eq(&fields), "{error}");
        assert_eq!(error["requestId"].as_str(), refused.header("x-request-id"));
        assert_eq!(refused.header("cache-control"), Some("no-store"), "{code}");
        assert!(number(&refused, "x-ratelimit-remaining") < number(&refused, "x-ratelimit-limit"));
        let waits = refused.header("retry-after").is_some();
        assert_eq!(waits, status == 429, "{code}");
    }
}

#[test]
fn these_are_all_that_the_document_lists() {
    let document = get(&Server::new(&[]).api("/openapi.json")).json();
    let listed = document["info"]["x-errors"].as_object().unwrap();
    let listed: BTreeSet<_> = listed.keys().map(String::as_str).collect();
    assert_eq!(listed, BTreeSet::from(ROWS.map(|(_, code, _)| code)));
}

#[test]
fn what_failed_is_for_the_log() {
    let server = Server::new(&[]);
    let refused = without_a_table(&server).json();
    let request = refused["error"]["requestId"].as_str().unwrap();
    assert!(!refused.to_string().contains("forum"), "{refused}");
    server.signal("TERM");
    let (_, _, log) = server.wait();
    let why = ["no such table", "does not exist"];
    let told = |line: &str| line.contains(request) && why.iter().any(|why| line.contains(why));
    assert!(log.lines().any(told), "{log}");
}

fn over_the_budget(_: &Server) -> Answer {
    let poor = Server::new(&["--guest-budget", "1"]);
    get(&poor.api("/forums"));
    get(&poor.api("/forums"))
}

fn without_a_table(server: &Server) -> Answer {
    server.home.ask("ALTER TABLE thread RENAME TO lost");
    get(&server.api("/threads/1"))
}

fn offline(server: &Server) -> Answer {
    assert_eq!(server.command(&["board", "offline"]).status, 0);
    get(&server.api("/forums"))
}

/// Without a title, which is looked at after who may start one.
fn start_thread(server: &Server, forum: &str) -> Answer {
    let path = format!("/forums/{forum}/threads");
    server.post(&server.token("bob"), &path, &json!({ "body": "Tea?" }))
}

fn follow_nothing(server: &Server) -> Answer {
    let nothing = json!({ "target": "thread", "targetId": "999" });
    server.post(&server.token("bob"), "/subscriptions", &nothing)
}

fn rate_twice(server: &Server) -> Answer {
    rate(server, "alice");
    rate(server, "alice")
}

fn rate_too_often(server: &Server) -> Answer {
    let most = ["setting", "reputation.per_day", "1"];
    assert_eq!(server.command(&most).status, 0);
    rate(server, "alice");
    rate(server, "carol")
}

fn rate(server: &Server, member: &str) -> Answer {
    let rating: Value = json!({ "points": 1, "comment": "Well said." });
    let path = format!("/members/@{member}/reputation");
    server.post(&server.token("bob"), &path, &rating)
}
