//! Who sees what: every endpoint, caller and forum (spec, What the service does, 4; contract, section 1).

use forum_api::runtime::TokioRuntime;
use forum_api::test_util::Answer;
use forum_api::{Environment, openapi};
use serde_json::Value;

use crate::support::schema::resolved;
use crate::support::server::settings;
use crate::support::{Ask, Mood, ROWS, Row, Server, bare, log, outcome};

/// Who sees which forums. Nobody sees the one that is absent.
const SIGHT: [(&str, &[&str]); 5] = [
    ("", &["open"]),
    ("alice", &["open", "members"]),
    ("moderator", &["open", "members", "staff"]),
    ("admin", &["open", "members", "staff"]),
    ("banned", &[]),
];

const FORUMS: [&str; 4] = ["open", "members", "staff", "absent"];

/// The rows whose path names something in a forum.
fn placed() -> impl Iterator<Item = &'static Row> {
    let places = ["{forumId}", "{threadId}", "{pollId}"];
    ROWS.iter()
        .filter(move |row| places.iter().any(|place| row.template.contains(place)))
}

/// How the library checks the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    /// Each item carries its forum.
    ByItem,
    /// The path names a place in a forum.
    ByPath,
    /// Private messages are in no forum.
    Nowhere,
}

/// Every list that the library serves, from its own table, with a request for it.
fn lists() -> Vec<(&'static Row, Checked)> {
    let document = openapi(&settings(), &Environment::new(TokioRuntime));
    let is_list = |row: &&Row| {
        let method = row.method.to_lowercase();
        let operation = &document["paths"][row.template][&method];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let items = &resolved(&document, schema)["properties"]["items"];
        items.is_object()
    };
    let checked = |row: &'static Row| {
        let operation = &document["paths"][row.template]["get"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let items = &resolved(&document, schema)["properties"]["items"];
        let item = resolved(&document, &items["items"]);
        let checked = match row.template {
            "/messages" => Checked::Nowhere,
            _ if item["properties"].get("forumId").is_some() => Checked::ByItem,
            _ => Checked::ByPath,
        };
        (row, checked)
    };
    ROWS.iter().filter(is_list).map(checked).collect()
}

/// The rows of the table are those of the document (see `documents`), so a new list arrives here.
#[test]
fn every_list_says_how_its_items_are_checked() {
    let lists = lists();
    for (row, checked) in &lists {
        let is_placed = placed().any(|placed| placed.template == row.template);
        assert!(*checked != Checked::ByPath || is_placed, "{row:?}");
    }
    let found: Vec<_> = lists
        .iter()
        .map(|(row, how)| (row.template, *how))
        .collect();
    let expected = [
        ("/forums", Checked::ByItem),
        ("/forums/{forumId}/threads", Checked::ByItem),
        ("/threads/{threadId}/posts", Checked::ByPath),
        ("/messages", Checked::Nowhere),
        ("/subscriptions", Checked::ByItem),
        ("/search", Checked::ByItem),
    ];
    assert_eq!(found, expected);
}

/// The lists whose path names no forum: each holds items of every forum.
fn global_lists() -> Vec<&'static str> {
    let global = |(row, checked): &(&Row, Checked)| {
        *checked == Checked::ByItem && !row.template.contains('{')
    };
    let lists = lists().into_iter().filter(global);
    lists.map(|(row, _)| row.path).collect()
}

fn ask(row: &Row, forum: &str) -> Ask {
    Ask::of(&Row {
        path: row.path.replace("open", forum).leak(),
        ..*row
    })
}

struct Callers {
    server: Server,
    tokens: Vec<(&'static str, &'static [&'static str], Option<String>)>,
}

impl Callers {
    async fn new() -> Self {
        let server = Server::new();
        let mut tokens = Vec::new();
        for (user, sees) in SIGHT {
            let token = if user.is_empty() {
                None
            } else {
                Some(server.token(user).await)
            };
            tokens.push((user, sees, token));
        }
        Self { server, tokens }
    }
}

#[tokio::test]
async fn every_endpoint_for_every_caller_in_every_forum() {
    let Callers { server, tokens } = Callers::new().await;
    for row in placed() {
        for (user, sees, token) in &tokens {
            for forum in FORUMS {
                let expected = match *user {
                    "banned" => (403, Some("owner_unavailable")),
                    "" if row.needs_token => (401, Some("unauthenticated")),
                    _ if sees.contains(&forum) => (row.success, None),
                    _ => (404, Some("not_found")),
                };
                let answer = server.send(&ask(row, forum).by(token.as_ref())).await;
                assert_eq!(outcome(&answer), expected, "{user} {row:?} {forum}");
            }
        }
    }
}

/// Status, headers and body, and what the board is asked for it.
#[tokio::test]
async fn hidden_and_absent_are_the_same_byte_for_byte() {
    let Callers { server, tokens } = Callers::new().await;
    for row in placed() {
        for (_, sees, token) in &tokens {
            let mut answers = Vec::new();
            for forum in FORUMS.iter().filter(|forum| !sees.contains(forum)) {
                let before = server.board.calls().len();
                let answer = server.send(&ask(row, forum).by(token.as_ref())).await;
                answers.push((bare(&answer), server.board.calls().len() - before));
            }
            answers.dedup();
            assert_eq!(answers.len(), 1, "{row:?} {answers:?}");
        }
    }
}

#[tokio::test]
async fn lists_hold_what_the_caller_sees() {
    let Callers { server, tokens } = Callers::new().await;
    for (user, sees, token) in tokens {
        for path in global_lists() {
            let answer = server.send(&Ask::get(path).by(token.as_ref())).await;
            let expected: Vec<_> = match (user, path) {
                ("banned", _) | ("", "/subscriptions") => Vec::new(),
                _ => sees.iter().copied().chain(["porch"]).collect(),
            };
            assert_eq!(forums_of(&answer), expected, "{user} {path}");
        }
    }
}

fn forums_of(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let items = json["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| text(&item["forumId"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

const FAULT: &str = "the board answered what the caller may not see; it was withheld";

#[tokio::test]
async fn a_board_that_answers_hidden_things_leaks_nothing_and_is_logged() {
    let Callers { server, tokens } = Callers::new().await;
    for row in placed() {
        for (user, sees, token) in tokens
            .iter()
            .filter(|(user, ..)| !user.is_empty() && *user != "banned")
        {
            for forum in ["open", "members", "staff"]
                .iter()
                .filter(|forum| !sees.contains(forum))
            {
                server.board.be(Mood::Well);
                let absent = server.send(&ask(row, "absent").by(token.as_ref())).await;
                server.board.be(Mood::Leaks);
                let calls = server.board.calls().len();
                let hidden = server.send(&ask(row, forum).by(token.as_ref())).await;
                assert_eq!(bare(&hidden), bare(&absent), "{user} {row:?}");
                let asked = row.template.contains("{forumId}");
                assert!(asked || log::of(&hidden).contains(FAULT), "{row:?}");
                if row.method != "GET" {
                    assert_eq!(
                        server.board.calls().len(),
                        calls,
                        "nothing was written: {row:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn hidden_items_of_a_list_are_left_out_and_logged() {
    let Callers { server, tokens } = Callers::new().await;
    let mut lists = Vec::new();
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for path in global_lists() {
            for (user, _, token) in &tokens[..2] {
                let answer = server.send(&Ask::get(path).by(token.as_ref())).await;
                lists.push((path, *user, bare(&answer), log::of(&answer).contains(FAULT)));
            }
        }
    }
    let (well, leaking) = lists.split_at(lists.len() / 2);
    for ((path, user, right, quiet), (.., found, logged)) in well.iter().zip(leaking) {
        assert_eq!(found, right, "{user} {path}");
        assert!(!quiet);
        assert_eq!(*logged, right.0 == 200, "{user} {path}");
    }
}

#[tokio::test]
async fn a_forum_below_hidden_ones_hangs_from_the_nearest_that_is_seen() {
    let Callers { server, tokens } = Callers::new().await;
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for (token, parent) in [
            (&tokens[0], "open"),
            (&tokens[1], "members"),
            (&tokens[2], "staff"),
        ] {
            let answer = server.send(&Ask::get("/forums").by(token.2.as_ref())).await;
            let json = answer.json();
            let porch = json["items"].as_array().unwrap().last().unwrap();
            assert_eq!(
                (text(&porch["forumId"]), text(&porch["parentId"])),
                ("porch".into(), parent.into())
            );
        }
    }
}

#[tokio::test]
async fn a_board_that_is_closed_to_guests_shows_them_nothing() {
    let server = Server::new();
    server.board.shows("", &[]);
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for row in ROWS.iter().filter(|row| !row.needs_token) {
            let answer = server.send(&Ask::of(row)).await;
            if row.template.contains('{') {
                assert_eq!(outcome(&answer), (404, Some("not_found")), "{row:?}");
            } else {
                assert_eq!(answer.status, 200);
                assert_eq!(answer.json()["items"], Value::Array(Vec::new()), "{row:?}");
            }
        }
    }
}
