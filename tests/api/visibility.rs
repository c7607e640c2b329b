//! Visibility: every endpoint, caller and forum (`docs/protocol.md`, section 10).

use forum_api::openapi_document;

use crate::support::paging::{ids, pages};
use crate::support::*;

/// Visible forums of each caller. The forum `absent` does not exist.
const VISIBLE: [(&str, &[&str]); 5] = [
    ("", &["open"]),
    ("alice", &["open", "members"]),
    ("moderator", &["open", "members", "staff"]),
    ("admin", &["open", "members", "staff"]),
    ("banned", &[]),
];

const FORUMS: [&str; 4] = ["open", "members", "staff", "absent"];

/// Returns the endpoints whose path names a resource in a forum.
fn in_forums() -> impl Iterator<Item = &'static Row> {
    let places = ["{forumId}", "{threadId}", "{pollId}"];
    ROWS.iter().filter(move |row| places.iter().any(|place| row.template.contains(place)))
}

/// Returns the lists with items of all forums, each with `true` if its items name their forum. Private messages are in
/// no forum.
fn global_lists() -> Vec<(&'static str, bool)> {
    let document = openapi_document(&settings(), &Environment::default());
    let global = |row: &&Row| {
        row.template != "/messages" && in_forums().all(|other| other.template != row.template)
    };
    let list = |row: &'static Row| {
        let operation = &document["paths"][row.template][row.method.to_lowercase()];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let items = resolve_ref(&document, schema)["properties"].get("items")?;
        let item = resolve_ref(&document, &items["items"]);
        Some((row.path, item["properties"].get("forumId").is_some()))
    };
    let lists: Vec<_> = ROWS.iter().filter(global).filter_map(list).collect();
    assert!(lists.contains(&("/search?q=tea", true)), "{lists:?}");
    lists
}

fn request(row: &Row, forum: &str) -> Request {
    Request::at(row, &row.path.replace("open", forum))
}

struct Callers {
    server: Server,
    tokens: Vec<(&'static str, &'static [&'static str], Option<String>)>,
}

impl Callers {
    async fn new() -> Self {
        let server = Server::new();
        let mut tokens = Vec::new();
        for (user, sees) in VISIBLE {
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
async fn an_endpoint_responds_only_for_forums_that_the_caller_sees() {
    let Callers { server, tokens } = Callers::new().await;
    for row in in_forums() {
        for (user, sees, token) in &tokens {
            for forum in FORUMS {
                let expected = match *user {
                    "banned" => OWNER_UNAVAILABLE,
                    "" if row.needs_token => UNAUTHENTICATED,
                    _ if sees.contains(&forum) => (row.success, None),
                    _ => PATH_NOT_FOUND,
                };
                server.expect(request(row, forum).maybe_bearer(token.as_ref()), expected).await;
            }
        }
    }
}

/// Compares status, headers, body and the number of calls of the board.
#[tokio::test]
async fn hidden_and_absent_resources_have_identical_responses() {
    let Callers { server, tokens } = Callers::new().await;
    for row in in_forums() {
        for (_, sees, token) in &tokens {
            let mut responses = Vec::new();
            for forum in FORUMS.iter().filter(|forum| !sees.contains(forum)) {
                let before = server.board.calls().len();
                let response = server.send(&request(row, forum).maybe_bearer(token.as_ref())).await;
                let calls = server.board.calls().len() - before;
                responses.push((comparable_parts(&response), calls));
            }
            responses.dedup();
            assert_eq!(responses.len(), 1, "{row:?} {responses:?}");
        }
    }
    let alice = tokens[1].2.as_ref();
    let admin = tokens[3].2.as_ref();
    for (token, message) in [(alice, "bob-1"), (alice, "alice-99"), (admin, "alice-1")] {
        let request =
            |message: &str| Request::get(&format!("/messages/{message}")).maybe_bearer(token);
        let absent = server.send(&request("absent-1")).await;
        let foreign = server.send(&request(message)).await;
        assert_eq!(outcome(&foreign), PATH_NOT_FOUND);
        assert_eq!(comparable_parts(&foreign), comparable_parts(&absent));
    }
    for id in ["staff", "absent", "no id"].map(|forum| (forum.to_owned(), format!("{forum}-1"))) {
        for (target, id) in [("forum", &id.0), ("thread", &id.1)] {
            let body = format!(r#"{{"target":"{target}","targetId":"{id}"}}"#);
            let follow = Request::post("/subscriptions", &body).maybe_bearer(alice);
            server.expect(follow, NOT_FOUND).await;
        }
    }
}

/// The access names the hidden forums, so the board finds out that a forum does not exist. Also repeats a write with a
/// key that another request used.
#[tokio::test]
async fn a_forum_that_does_not_exist_has_the_response_of_an_excluded_one() {
    let server = Server::new();
    server.board.name_hidden_forums();
    let alice = server.token("alice").await;
    let used = Request::post("/forums/open/threads", r#"{"title":"x","body":"x"}"#).key("used");
    server.expect(used.bearer(&alice), (201, None)).await;
    for row in in_forums() {
        for key in [None, Some("new"), Some("used")] {
            let mut responses = Vec::new();
            for forum in ["staff", "absent"] {
                let without_key = request(row, forum).bearer(&alice);
                let request = match key {
                    Some(key) => without_key.key(key),
                    None => without_key,
                };
                let response = server.send(&request).await;
                let found = outcome(&response);
                assert_eq!(found, PATH_NOT_FOUND, "{row:?} {forum} {key:?}");
                responses.push(comparable_parts(&response));
            }
            assert_eq!(responses[0], responses[1], "{row:?} {key:?}");
        }
    }
}

#[tokio::test]
async fn a_post_is_reached_through_its_own_thread_only() {
    let server = Server::new();
    let admin = server.token("admin").await;
    for post in ["staff-1-1", "open-2-1", "open-1"] {
        let path = format!("/threads/open-1/posts/{post}");
        let edit = Request::new("PATCH", &path).json(r#"{"body":"x"}"#);
        for request in [edit, Request::new("DELETE", &path)] {
            server.expect(request.bearer(&admin), PATH_NOT_FOUND).await;
        }
    }
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn a_subscription_to_a_hidden_thread_can_be_removed() {
    let (server, alice) = Server::with_alice().await;
    server.board.show("alice", &["open"]);
    for (thread, expected) in
        [("members-1", (204, None)), ("staff-1", NOT_FOUND), ("absent-1", NOT_FOUND)]
    {
        let request = Request::new("DELETE", &format!("/subscriptions/thread/{thread}"));
        server.expect(request.bearer(&alice), expected).await;
    }
}

#[tokio::test]
async fn lists_hold_the_items_that_the_caller_sees() {
    let Callers { server, tokens } = Callers::new().await;
    for (user, sees, token) in tokens {
        for (path, _) in global_lists().into_iter().filter(|(_, is_named)| *is_named) {
            let response = server.send(&Request::get(path).maybe_bearer(token.as_ref())).await;
            let json = response.json();
            let items = json["items"].as_array().into_iter().flatten();
            let forums: Vec<_> = items.map(|item| item["forumId"].as_str().unwrap()).collect();
            let expected: Vec<_> = match (user, path) {
                ("banned", _) | ("", "/subscriptions") => Vec::new(),
                _ => sees.iter().copied().chain(["porch"]).collect(),
            };
            assert_eq!(forums, expected, "{user} {path}");
        }
    }
}

const WARNING: &str = "the board returned a result from a hidden forum; result dropped";

#[tokio::test]
async fn hidden_resources_that_a_faulty_board_returns_are_withheld_and_logged() {
    let Callers { server, tokens } = Callers::new().await;
    for row in in_forums() {
        // Members only, without the banned one.
        for (user, sees, token) in &tokens[1..4] {
            for forum in FORUMS[..3].iter().filter(|forum| !sees.contains(forum)) {
                server.board.set_mode(FailureMode::None);
                let absent =
                    server.send(&request(row, "absent").maybe_bearer(token.as_ref())).await;
                server.board.set_mode(FailureMode::Leak);
                let calls = server.board.calls().len();
                let hidden = server.send(&request(row, forum).maybe_bearer(token.as_ref())).await;
                assert_eq!(comparable_parts(&hidden), comparable_parts(&absent), "{user} {row:?}");
                let is_checked_first = row.template.contains("{forumId}");
                assert!(is_checked_first || log::of(&hidden).contains(WARNING), "{row:?}");
                let is_write = row.method != "GET";
                assert!(!is_write || server.board.calls().len() == calls, "{row:?}");
            }
        }
    }
}

#[tokio::test]
async fn hidden_items_of_a_list_are_left_out_and_logged() {
    let Callers { server, tokens } = Callers::new().await;
    for (path, _) in global_lists() {
        for (user, _, token) in &tokens[..2] {
            let request = Request::get(path).maybe_bearer(token.as_ref());
            server.board.set_mode(FailureMode::None);
            let sound = server.send(&request).await;
            server.board.set_mode(FailureMode::Leak);
            let leaked = server.send(&request).await;
            let [found, expected] = [&leaked, &sound].map(comparable_parts);
            assert_eq!(found, expected, "{user} {path}");
            assert!(!log::of(&sound).contains(WARNING));
            let is_logged = log::of(&leaked).contains(WARNING);
            assert_eq!(is_logged, sound.status == 200, "{user} {path}");
        }
    }
}

/// A page of hidden items is empty, and has a cursor to the page after it.
#[tokio::test]
async fn visible_items_follow_pages_of_hidden_ones() {
    let (server, alice) = Server::with_alice().await;
    server.board.show("alice", &["porch"]);
    server.board.set_mode(FailureMode::Leak);
    let pages = pages(&server, "/search?q=tea&limit=1", &alice).await;
    assert_eq!(ids(&pages, "forumId"), ["porch"]);
    assert_eq!(pages.len(), 4);
}

#[tokio::test]
async fn the_parent_of_a_forum_is_its_nearest_visible_ancestor() {
    let Callers { server, tokens } = Callers::new().await;
    for mode in [FailureMode::None, FailureMode::Leak] {
        server.board.set_mode(mode);
        for ((_, _, token), parent) in tokens.iter().zip(["open", "members", "staff"]) {
            let request = Request::get("/forums").maybe_bearer(token.as_ref());
            let response = server.send(&request).await;
            let json = response.json();
            let porch = json["items"].as_array().unwrap().last().unwrap();
            assert_eq!(porch["forumId"], "porch");
            assert_eq!(porch["parentId"], parent);
        }
    }
}

#[tokio::test]
async fn a_guest_who_sees_no_forum_gets_no_results() {
    let server = Server::new();
    server.board.show("", &[]);
    for mode in [FailureMode::None, FailureMode::Leak] {
        server.board.set_mode(mode);
        for row in ROWS.iter().filter(|row| !row.needs_token) {
            let response = server.send(&Request::of(row)).await;
            if row.template.contains('{') {
                assert_eq!(outcome(&response), PATH_NOT_FOUND, "{row:?}");
            } else {
                assert_eq!(response.status, 200);
                assert_eq!(response.json()["items"], json!([]), "{row:?}");
            }
        }
        let page = server.send(&Request::get("/search?q=tea&limit=1")).await;
        assert_eq!(page.json(), json!({ "items": [], "next": null }));
    }
}
