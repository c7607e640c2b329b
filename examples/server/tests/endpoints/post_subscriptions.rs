//! `POST /subscriptions`.

use serde_json::{Value, json};

use crate::program::Server;
use crate::road::{Request, all, refusal};

fn what(target: &str, id: &str) -> Value {
    json!({ "target": target, "targetId": id })
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "POST",
        path: "/subscriptions",
        body: &what("forum", "2").to_string(),
        owner: "bob",
        scope: "subscriptions:write",
        cost: 2,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn what_is_followed_already_is_the_same_subscription() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    for (target, title) in [
        ("thread", "Welcome to the board"),
        ("forum", "Announcements"),
    ] {
        let new = server.post(&bob, "/subscriptions", &what(target, "1"));
        let again = server.post(&bob, "/subscriptions", &what(target, "1"));
        assert_eq!((new.status, again.status), (201, 200));
        assert_eq!(new.json(), again.json());
        assert_eq!(new.header("location"), None);
        assert_eq!(new.json()["title"], title);
        assert_eq!(new.json()["target"], target);
    }
}

#[test]
fn what_is_not_seen_is_not_followed() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let follow = |body: &Value| server.post(&bob, "/subscriptions", body);
    for (target, id) in [
        ("forum", "5"),
        ("forum", "999"),
        ("forum", "007"),
        ("thread", "999"),
        ("thread", "x y"),
        ("thread", ""),
    ] {
        let refused = follow(&what(target, id));
        assert_eq!(
            refusal(&refused),
            (404, "NOT_FOUND".into()),
            "{target} {id}"
        );
    }
    for body in [
        what("post", "1"),
        json!({ "target": "forum" }),
        json!({ "targetId": "1" }),
        json!({ "target": "forum", "targetId": 1 }),
        json!({ "target": "forum", "targetId": "1", "mail": true }),
    ] {
        let refused = follow(&body);
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{body}");
    }
    assert_eq!(all(&server.get(&bob, "/subscriptions"), "target").len(), 0);
}

#[test]
fn a_repeat_with_a_key_is_the_first_answer() {
    let server = Server::new(&[]);
    let bearer = format!("Bearer {}", server.token("bob"));
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    ];
    let (url, body) = (server.api("/subscriptions"), what("forum", "2").to_string());
    let follow = || crate::client::send("POST", &url, &headers, &body);
    let (first, again) = (follow(), follow());
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(first.body, again.body);
}

#[test]
fn who_writes_may_follow_with_that() {
    let server = Server::new(&[]);
    let newbie = server.token("newbie");
    let new = json!({ "title": "Hello", "body": "I am new.", "subscribe": true });
    let thread = server.post(&newbie, "/forums/2/threads", &new).json();
    assert_eq!(thread["state"], "awaiting_approval");
    let followed = server.get(&newbie, "/subscriptions");
    assert_eq!(all(&followed, "targetId"), [thread["threadId"].clone()]);
    let alice = server.token("alice");
    let reply = json!({ "body": "Oats.", "subscribe": true });
    assert_eq!(server.post(&alice, "/threads/1/posts", &reply).status, 201);
    let followed = server.get(&alice, "/subscriptions");
    assert_eq!(all(&followed, "targetId"), ["1"]);
}
