//! `POST /forums/{forumId}/threads`.

use serde_json::{Value, json};

use crate::client::{Answer, get, send};
use crate::program::Server;
use crate::road::{Request, all, number, refusal};

fn plain() -> Value {
    json!({ "title": "Sugar", "body": "White or *brown*?" })
}

/// The same with these fields besides, or in their place.
fn with(fields: &Value) -> Value {
    let mut new = plain();
    for (name, value) in fields.as_object().unwrap() {
        new[name] = value.clone();
    }
    new
}

fn start(server: &Server, token: &str, new: &Value) -> Answer {
    server.post(token, "/forums/2/threads", new)
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "POST",
        path: "/forums/2/threads",
        body: &plain().to_string(),
        owner: "bob",
        scope: "threads:write",
        cost: 10,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn the_thread_is_answered_with_its_place_and_found_by_everybody() {
    let server = Server::new(&[]);
    let started = start(&server, &server.token("bob"), &plain());
    let thread = started.json();
    let path = format!("/threads/{}", thread["threadId"].as_str().unwrap());
    let location = format!("/api/v1{path}");
    assert_eq!(
        (started.status, started.header("location")),
        (201, Some(&*location))
    );
    for (field, value) in [
        ("forumId", json!("2")),
        ("title", json!("Sugar")),
        ("state", json!("visible")),
        ("replyCount", json!(0)),
        ("pollId", Value::Null),
        ("canReply", json!(true)),
        ("version", json!(1)),
    ] {
        assert_eq!(thread[field], value, "{field}");
    }
    assert_eq!(thread["author"]["username"], "bob");
    assert_eq!(thread["lastPost"]["postId"], thread["firstPostId"]);
    let seen = get(&server.api(&path)).json();
    assert_eq!(seen, with_can_reply(&thread, false));
    let list = get(&server.api("/forums/2/threads"));
    assert_eq!(list.json()["items"][0], seen);
    let posts = get(&server.api(&format!("{path}/posts")));
    assert_eq!(all(&posts, "postId"), [thread["firstPostId"].clone()]);
    let html = "<p>White or <em>brown</em>?</p>\n";
    assert_eq!(all(&posts, "bodyHtml"), [html]);
}

fn with_can_reply(thread: &Value, can_reply: bool) -> Value {
    let mut thread = thread.clone();
    thread["canReply"] = json!(can_reply);
    thread
}

#[test]
fn a_thread_begins_with_its_poll_and_its_follower() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let poll = json!({ "question": "Which?", "options": ["white", "brown"] });
    let new = with(&json!({ "poll": poll, "subscribe": true }));
    let thread = start(&server, &bob, &new).json();
    let id = &thread["threadId"];
    let path = format!("/threads/{}/poll", id.as_str().unwrap());
    let poll = get(&server.api(&path)).json();
    assert_eq!(
        (&poll["pollId"], &poll["question"]),
        (&thread["pollId"], &json!("Which?"))
    );
    let followed = server.get(&bob, "/subscriptions").json();
    assert_eq!(&followed["items"][0]["targetId"], id);
}

#[test]
fn who_may_start_threads_is_the_forums_matter() {
    let server = Server::new(&[]);
    assert_eq!(
        server
            .command(&["setting", "post.interval_seconds", "0"])
            .status,
        0
    );
    let (forbidden, absent) = ((403, "FORBIDDEN"), (404, "not_found"));
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    for (token, forum, outcome) in [
        (&bob, "1", forbidden),
        (&bob, "4", (201, "")),
        (&bob, "5", absent),
        (&bob, "999", absent),
        (&bob, "007", absent),
        (&moderator, "1", (201, "")),
        (&moderator, "5", (201, "")),
        (&moderator, "999", absent),
    ] {
        let answer = server.post(token, &format!("/forums/{forum}/threads"), &plain());
        assert_eq!(refusal(&answer), (outcome.0, outcome.1.into()), "{forum}");
    }
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let (invalid, unusable) = ((422, "VALIDATION"), (400, "bad_request"));
    let poll = |options: &[&str]| json!({ "poll": { "question": "?", "options": options } });
    for (fields, outcome) in [
        (json!({ "title": " " }), invalid),
        (json!({ "title": "ä".repeat(121) }), invalid),
        (json!({ "body": "\n" }), invalid),
        (json!({ "body": "ä".repeat(20_001) }), invalid),
        (poll(&["white"]), invalid),
        (poll(&["white", "white"]), invalid),
        (json!({ "poll": {} }), unusable),
        (json!({ "poll": "which?" }), unusable),
        (json!({ "title": 1 }), unusable),
        (json!({ "body": null }), unusable),
        (json!({ "subscribe": "yes" }), unusable),
        (json!({ "pinned": true }), unusable),
    ] {
        let refused = start(&server, &bob, &with(&fields));
        assert_eq!(refusal(&refused), (outcome.0, outcome.1.into()), "{fields}");
    }
    for body in [json!({ "body": "x" }), json!({ "title": "x" }), json!({})] {
        let refused = start(&server, &bob, &body);
        assert_eq!(refusal(&refused), (422, "VALIDATION".into()), "{body}");
    }
    assert_eq!(
        server
            .ask("POST", &bob, "/forums/2/threads?draft=1", "{}")
            .code(),
        "bad_request"
    );
    let list = get(&server.api("/forums/2/threads"));
    assert_eq!(all(&list, "title").len(), 5);
}

#[test]
fn flood_rules_bind_members_and_the_interval_spares_staff() {
    let server = Server::new(&[]);
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    let outcome = |token: &str| refusal(&start(&server, token, &plain()));
    let (fine, too_soon) = ((201, String::new()), (422, "VALIDATION".into()));
    assert_eq!([outcome(&bob), outcome(&bob)], [fine.clone(), too_soon]);
    assert_eq!(
        [outcome(&moderator), outcome(&moderator)],
        [fine.clone(), fine]
    );
    let most = ["setting", "post.per_hour", "2"];
    assert_eq!(server.command(&most).status, 0);
    let refused = start(&server, &moderator, &plain());
    assert_eq!(refusal(&refused), (429, "RATE_LIMITED".into()));
    assert!((3500..=3600).contains(&number(&refused, "retry-after")));
}

#[test]
fn a_newcomers_thread_awaits_approval() {
    let server = Server::new(&[]);
    let newbie = server.token("newbie");
    let started = start(&server, &newbie, &plain());
    let thread = started.json();
    assert_eq!(
        (started.status, &thread["state"]),
        (201, &json!("awaiting_approval"))
    );
    let path = format!("/threads/{}", thread["threadId"].as_str().unwrap());
    assert_eq!(server.get(&newbie, &path).json(), thread);
    assert_eq!(get(&server.api(&path)).status, 404);
}

#[test]
fn a_repeat_with_its_key_starts_no_second_thread() {
    let server = Server::new(&[]);
    let bearer = format!("Bearer {}", server.token("bob"));
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let url = server.api("/forums/2/threads");
    let [first, second] = [(); 2].map(|()| send("POST", &url, &headers, &plain().to_string()));
    assert_eq!((first.status, &first.body), (201, &second.body));
    assert_eq!(second.header("location"), first.header("location"));
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!(all(&get(&url), "title").len(), 6);
    let other = send("POST", &url, &headers, "{}");
    assert_eq!(refusal(&other), (409, "CONFLICT".into()));
}

/// A repeat does not show a thread that was deleted since.
#[test]
fn a_repeat_with_its_key_shows_no_deleted_thread() {
    let server = Server::new(&[]);
    let (bearer, moderator) = (
        format!("Bearer {}", server.token("bob")),
        server.token("mod"),
    );
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let url = server.api("/forums/2/threads");
    let start = || send("POST", &url, &headers, &plain().to_string());
    let thread = start().json();
    let first_post = format!(
        "/threads/{}/posts/{}",
        thread["threadId"].as_str().unwrap(),
        thread["firstPostId"].as_str().unwrap()
    );
    let deleted = server.ask("DELETE", &moderator, &first_post, "");
    assert_eq!(deleted.status, 204);
    assert_eq!(refusal(&start()), (404, "NOT_FOUND".into()));
}
