//! `GET /threads/{threadId}`.

use serde_json::{Value, json};

use crate::client::{Answer, get, send};
use crate::places::{first_post, new_thread, reply, staff_thread, thread};
use crate::program::Server;
use crate::road::{Request, refusal};

/// What a guest, the members bob and newbie, and a moderator are answered.
fn answers(server: &Server, path: &str) -> [Answer; 4] {
    let of = |name| server.get(&server.token(name), path);
    [get(&server.api(path)), of("bob"), of("newbie"), of("mod")]
}

fn statuses(server: &Server, path: &str) -> [u16; 4] {
    answers(server, path).map(|answer| answer.status)
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/threads/1",
        body: "",
        owner: "bob",
        scope: "threads:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn a_thread_is_told_with_its_last_post() {
    let server = Server::new(&[]);
    let thread = get(&server.api("/threads/1")).json();
    let posts = get(&server.api("/threads/1/posts")).json();
    let [first, last] = [0, 3].map(|index| &posts["items"][index]);
    for (field, value) in [
        ("threadId", json!("1")),
        ("forumId", json!("1")),
        ("title", json!("Welcome to the board")),
        ("author", first["author"].clone()),
        ("state", json!("visible")),
        ("createdAt", first["createdAt"].clone()),
        ("lastActivityAt", last["createdAt"].clone()),
        ("replyCount", json!(3)),
        ("pinned", json!(false)),
        ("locked", json!(false)),
        ("firstPostId", first["postId"].clone()),
        ("pollId", Value::Null),
        ("canReply", json!(false)),
        ("version", json!(1)),
    ] {
        assert_eq!(thread[field], value, "{field}");
    }
    for field in ["postId", "author", "createdAt"] {
        assert_eq!(thread["lastPost"][field], last[field], "{field}");
    }
}

#[test]
fn each_caller_is_told_whether_they_may_reply() {
    let server = Server::new(&[]);
    let path = thread(&server);
    let can_reply = || answers(&server, &path).map(|answer| answer.json()["canReply"] == true);
    assert_eq!(can_reply(), [false, true, true, true]);
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(server.command(&["thread", "lock", id]).status, 0);
    assert_eq!(can_reply(), [false, false, false, true]);
}

#[test]
fn what_is_not_seen_is_not_there() {
    let server = Server::new(&[]);
    let waiting = new_thread(&server, &server.token("newbie"));
    assert_eq!(statuses(&server, &waiting), [404, 404, 200, 200]);
    let staff = staff_thread(&server);
    assert_eq!(statuses(&server, &staff), [404, 404, 404, 200]);
    let deleted = first_post(&server);
    let by_moderator = server.ask("DELETE", &server.token("mod"), &deleted, "");
    assert_eq!(by_moderator.status, 204);
    let deleted = deleted.split("/posts").next().unwrap();
    assert_eq!(statuses(&server, deleted), [404, 404, 404, 200]);
    let seen = server.get(&server.token("mod"), deleted).json();
    assert_eq!(
        (&seen["state"], &seen["canReply"]),
        (&json!("deleted"), &json!(false))
    );
    for path in [&waiting, &staff, deleted, "/threads/999", "/threads/007"] {
        let refused = get(&server.api(path));
        assert_eq!(refusal(&refused), (404, "not_found".into()), "{path}");
        assert_eq!(refused.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn it_takes_no_query() {
    let server = Server::new(&[]);
    for path in ["/threads/1?body=html", "/threads/999?body=html"] {
        let refused = get(&server.api(path));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{path}");
    }
}

#[test]
fn an_unchanged_thread_is_not_sent_again() {
    let server = Server::new(&[]);
    let url = server.api(&thread(&server));
    let first = get(&url);
    let tag = first.header("etag").unwrap();
    let again = || send("GET", &url, &[("if-none-match", tag)], "").status;
    assert_eq!(again(), 304);
    reply(&server, &server.token("bob"));
    assert_eq!(again(), 200);
}
