//! Who sees what: every endpoint, caller and forum (`docs/protocol.md`, section 10).

use forum_api::runtime::TokioRuntime;
use forum_api::{Environment, openapi_document};
use serde_json::json;

use crate::support::schema::resolve_ref;
use crate::support::server::settings;
use crate::support::walk::{ids, pages};
use crate::support::*;

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
    /// Each item names its forum.
    ByItem,
    /// The path names a resource in a forum.
    ByPath,
    /// Private messages are in no forum.
    Unplaced,
}

/// Every list of the document, with how its items are checked.
fn lists() -> Vec<(&'static Row, Checked)> {
    let document = openapi_document(&settings(), &Environment::new(TokioRuntime));
    let checked = |row: &'static Row| {
        let operation = &document["paths"][row.template][row.method.to_lowercase()];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let items = &resolve_ref(&document, schema)["properties"]["items"];
        let item = items
            .is_object()
            .then(|| resolve_ref(&document, &items["items"]))?;
        let checked = match row.template {
            "/messages" => Checked::Unplaced,
            _ if item["properties"].get("forumId").is_some() => Checked::ByItem,
            _ => Checked::ByPath,
        };
        Some((row, checked))
    };
    ROWS.iter().filter_map(checked).collect()
}

/// A new list of the table fails here until its items have a check.
#[test]
fn every_list_declares_how_its_items_are_checked() {
    for (row, checked) in lists() {
        let is_placed = placed().any(|placed| placed.template == row.template);
        assert!(checked != Checked::ByPath || is_placed, "{row:?}");
    }
    assert!(lists().iter().any(|(row, _)| row.template == "/search"));
}

/// The lists that hold items of every forum.
fn global_lists() -> Vec<&'static str> {
    let is_global = |(row, checked): &(&Row, Checked)| {
        *checked == Checked::ByItem && !row.template.contains('{')
    };
    let lists = lists().into_iter().filter(is_global);
    lists.map(|(row, _)| row.path).collect()
}

fn ask(row: &Row, forum: &str) -> Ask {
    Ask::at(row, &row.path.replace("open", forum))
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
            let token = match user {
                "" => None,
                user => Some(server.token(user).await),
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
                    "banned" => OWNER_UNAVAILABLE,
                    "" if row.needs_token => UNAUTHENTICATED,
                    _ if sees.contains(&forum) => (row.success, None),
                    _ => PATH_NOT_FOUND,
                };
                let outcome = server.outcome(ask(row, forum).by(token.as_ref())).await;
                assert_eq!(outcome, expected, "{user} {row:?} {forum}");
            }
        }
    }
}

/// Status, headers and body, and the calls of the board.
#[tokio::test]
async fn hidden_and_absent_resources_have_identical_responses() {
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
    let (alice, admin) = (tokens[1].2.as_ref(), tokens[3].2.as_ref());
    for (token, message) in [(alice, "bob-1"), (alice, "alice-99"), (admin, "alice-1")] {
        let ask = |message: &str| Ask::get(&format!("/messages/{message}")).by(token);
        let absent = server.send(&ask("absent-1")).await;
        let foreign = server.send(&ask(message)).await;
        assert_eq!(outcome(&foreign), PATH_NOT_FOUND);
        assert_eq!(bare(&foreign), bare(&absent));
    }
    for id in ["staff", "absent", "no id"].map(|forum| (forum.to_owned(), format!("{forum}-1"))) {
        for (target, id) in [("forum", &id.0), ("thread", &id.1)] {
            let body = format!(r#"{{"target":"{target}","targetId":"{id}"}}"#);
            let outcome = server
                .outcome(Ask::post("/subscriptions", &body).by(alice))
                .await;
            assert_eq!(outcome, NOT_FOUND, "{body}");
        }
    }
}

#[tokio::test]
async fn a_post_is_reached_through_its_own_thread_only() {
    let server = Server::new();
    let admin = server.token("admin").await;
    for post in ["staff-1-1", "open-2-1", "open-1"] {
        let path = format!("/threads/open-1/posts/{post}");
        let edit = Ask::new("PATCH", &path).json(r#"{"body":"x"}"#);
        for ask in [edit, Ask::new("DELETE", &path)] {
            assert_eq!(
                server.outcome_for(&admin, ask).await,
                PATH_NOT_FOUND,
                "{path}"
            );
        }
    }
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn a_subscription_to_a_hidden_thread_can_be_ended() {
    let server = Server::new();
    let alice = server.token("alice").await;
    server.board.shows("alice", &["open"]);
    for (thread, expected) in [
        ("members-1", (204, None)),
        ("staff-1", NOT_FOUND),
        ("absent-1", NOT_FOUND),
    ] {
        let ask = Ask::new("DELETE", &format!("/subscriptions/thread/{thread}"));
        assert_eq!(server.outcome_for(&alice, ask).await, expected);
    }
}

#[tokio::test]
async fn lists_hold_the_items_that_the_caller_sees() {
    let Callers { server, tokens } = Callers::new().await;
    for (user, sees, token) in tokens {
        for path in global_lists() {
            let answer = server.send(&Ask::get(path).by(token.as_ref())).await;
            let json = answer.json();
            let items = json["items"].as_array().into_iter().flatten();
            let forums: Vec<_> = items
                .map(|item| item["forumId"].as_str().unwrap())
                .collect();
            let expected: Vec<_> = match (user, path) {
                ("banned", _) | ("", "/subscriptions") => Vec::new(),
                _ => sees.iter().copied().chain(["porch"]).collect(),
            };
            assert_eq!(forums, expected, "{user} {path}");
        }
    }
}

const FAULT: &str = "the board returned a result from a hidden forum; result dropped";

#[tokio::test]
async fn hidden_resources_that_a_faulty_board_returns_are_withheld_and_logged() {
    let Callers { server, tokens } = Callers::new().await;
    for row in placed() {
        // Members: neither the guest nor the banned one.
        for (user, sees, token) in &tokens[1..4] {
            for forum in FORUMS[..3].iter().filter(|forum| !sees.contains(forum)) {
                server.board.be(Mood::Well);
                let absent = server.send(&ask(row, "absent").by(token.as_ref())).await;
                server.board.be(Mood::Leaks);
                let calls = server.board.calls().len();
                let hidden = server.send(&ask(row, forum).by(token.as_ref())).await;
                assert_eq!(bare(&hidden), bare(&absent), "{user} {row:?}");
                let is_checked_first = row.template.contains("{forumId}");
                assert!(
                    is_checked_first || log::of(&hidden).contains(FAULT),
                    "{row:?}"
                );
                let is_write = row.method != "GET";
                assert!(!is_write || server.board.calls().len() == calls, "{row:?}");
            }
        }
    }
}

#[tokio::test]
async fn hidden_items_of_a_list_are_left_out_and_logged() {
    let Callers { server, tokens } = Callers::new().await;
    for path in global_lists() {
        for (user, _, token) in &tokens[..2] {
            let ask = Ask::get(path).by(token.as_ref());
            server.board.be(Mood::Well);
            let right = server.send(&ask).await;
            server.board.be(Mood::Leaks);
            let found = server.send(&ask).await;
            assert_eq!(bare(&found), bare(&right), "{user} {path}");
            assert!(!log::of(&right).contains(FAULT));
            assert_eq!(
                log::of(&found).contains(FAULT),
                right.status == 200,
                "{user} {path}"
            );
        }
    }
}

/// A page of hidden items is empty, and has a cursor to the page after it.
#[tokio::test]
async fn visible_items_follow_pages_of_hidden_ones() {
    let server = Server::new();
    let alice = server.token("alice").await;
    server.board.shows("alice", &["porch"]);
    server.board.be(Mood::Leaks);
    let pages = pages(&server, "/search?q=tea&limit=1", &alice).await;
    assert_eq!(ids(&pages, "forumId"), ["porch"]);
    assert_eq!(pages.len(), 4);
}

#[tokio::test]
async fn the_parent_of_a_forum_is_its_nearest_visible_ancestor() {
    let Callers { server, tokens } = Callers::new().await;
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for ((_, _, token), parent) in tokens.iter().zip(["open", "members", "staff"]) {
            let answer = server.send(&Ask::get("/forums").by(token.as_ref())).await;
            let json = answer.json();
            let porch = json["items"].as_array().unwrap().last().unwrap();
            assert_eq!(
                (&porch["forumId"], &porch["parentId"]),
                (&"porch".into(), &parent.into())
            );
        }
    }
}

#[tokio::test]
async fn a_board_without_forums_for_guests_shows_them_none() {
    let server = Server::new();
    server.board.shows("", &[]);
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for row in ROWS.iter().filter(|row| !row.needs_token) {
            let answer = server.send(&Ask::of(row)).await;
            if row.template.contains('{') {
                assert_eq!(outcome(&answer), PATH_NOT_FOUND, "{row:?}");
            } else {
                assert_eq!(answer.status, 200);
                assert_eq!(answer.json()["items"], json!([]), "{row:?}");
            }
        }
    }
}
