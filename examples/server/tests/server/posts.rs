//! `post approve`, `post restore`, `thread lock`, `thread unlock`, `thread pin`, `thread unpin`.

use serde_json::{Value, json};

use crate::client::get;
use crate::program::Server;

const DONE: fn() -> Value = || json!({ "ok": true });

#[test]
fn a_newcomers_thread_is_approved_with_its_first_post_once() {
    let server = Server::new(&[]);
    let new = json!({ "title": "Hello", "body": "I am new." });
    let thread = server.post(&server.token("newbie"), "/forums/2/threads", &new);
    let thread = thread.json();
    let url = server.api(&format!(
        "/threads/{}",
        thread["threadId"].as_str().unwrap()
    ));
    assert_eq!(get(&url).status, 404);
    let post = thread["firstPostId"].as_str().unwrap();
    let approve = || server.command(&["post", "approve", post, "--json"]);
    assert_eq!(approve().json(), DONE());
    let seen = get(&url).json();
    assert_eq!(
        (&seen["state"], &seen["version"]),
        (&json!("visible"), &json!(2))
    );
    let again = approve();
    let reason = format!("post {post} is not awaiting approval");
    assert_eq!(again.refusal(), reason);
    assert_eq!(again.json(), json!({ "error": reason }));
}

#[test]
fn a_deleted_reply_is_restored_once() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let reply = server.post(&bob, "/threads/1/posts", &json!({ "body": "x" }));
    let reply = reply.json();
    let post = reply["postId"].as_str().unwrap();
    let listed = || {
        let page = get(&server.api("/threads/1/posts?limit=100")).json();
        let items = page["items"].as_array().unwrap();
        items.iter().any(|item| item["postId"] == post)
    };
    let path = format!("/threads/1/posts/{post}");
    assert_eq!(server.ask("DELETE", &bob, &path, "").status, 204);
    assert!(!listed());
    let restore = || server.command(&["post", "restore", post, "--json"]);
    assert_eq!(restore().json(), DONE());
    assert!(listed());
    assert_eq!(restore().refusal(), format!("post {post} is not deleted"));
    for command in ["approve", "restore"] {
        let refused = server.command(&["post", command, "999"]);
        assert_eq!(refused.refusal(), "there is no post 999");
    }
}

#[test]
fn marks_of_a_thread_are_set_and_taken_as_often_as_one_likes() {
    let server = Server::new(&[]);
    let thread = || get(&server.api("/threads/1")).json();
    for (command, field, value, version) in [
        ("lock", "locked", true, 2),
        ("pin", "pinned", true, 3),
        ("unlock", "locked", false, 4),
        ("unpin", "pinned", false, 5),
    ] {
        for _ in 0..2 {
            let done = server.command(&["thread", command, "1", "--json"]);
            assert_eq!(done.json(), DONE());
            assert_eq!(
                (&thread()[field], &thread()["version"]),
                (&json!(value), &json!(version))
            );
        }
        let refused = server.command(&["thread", command, "999"]);
        assert_eq!(refused.refusal(), "there is no thread 999");
    }
}
