//! `PATCH /threads/{threadId}/posts/{postId}`.

use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::places::{last_post, reply, tea};
use crate::program::Server;
use crate::road::{Request, refusal};

fn patch(server: &Server, token: &str, path: &str, body: &Value) -> Answer {
    server.ask("PATCH", token, path, &body.to_string())
}

#[test]
fn it_keeps_to_the_road() {
    let path = last_post(&Server::new(&[]));
    let request = Request {
        method: "PATCH",
        path: &path,
        body: r#"{"body":"Green."}"#,
        owner: "mod",
        scope: "posts:write",
        cost: 5,
        success: 200,
    };
    request.keeps_to_the_road();
}

#[test]
fn the_edited_post_is_answered_and_found_by_everybody() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let path = reply(&server, &bob);
    let edit = json!({ "body": "*White*.", "reason": "Taste.", "expectedVersion": 1 });
    let edited = patch(&server, &bob, &path, &edit);
    let post = edited.json();
    assert_eq!((edited.status, edited.header("location")), (200, None));
    assert_eq!(post["body"], "*White*.");
    assert_eq!(post["bodyHtml"], "<p><em>White</em>.</p>\n");
    assert_eq!(post["editedBy"]["username"], "bob");
    assert!(post["editedAt"].as_str() >= post["createdAt"].as_str());
    assert_eq!((&post["version"], &post["number"]), (&json!(2), &json!(7)));
    assert_eq!(
        (&post["canEdit"], &post["canDelete"]),
        (&json!(true), &json!(true))
    );
    let seen = get(&server.api(&tea(&server))).json();
    let expected = json!({ "canEdit": false, "canDelete": false });
    let mut by_a_guest = post.clone();
    for (field, value) in expected.as_object().unwrap() {
        by_a_guest[field] = value.clone();
    }
    assert_eq!(seen["items"][6], by_a_guest);
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let path = reply(&server, &bob);
    let (fine, long) = (json!({ "body": "x" }), "ä".repeat(20_001));
    for (token, path, body, code) in [
        (&alice, &*path, fine.clone(), (403, "FORBIDDEN")),
        (
            &bob,
            &path,
            json!({ "body": "x", "expectedVersion": 2 }),
            (409, "CONFLICT"),
        ),
        (&bob, &path, json!({ "body": " \n" }), (422, "VALIDATION")),
        (&bob, &path, json!({ "body": long }), (422, "VALIDATION")),
        (&bob, &path, json!({}), (400, "bad_request")),
        (&bob, &path, json!({ "reason": "x" }), (400, "bad_request")),
        (
            &bob,
            &path,
            json!({ "expectedVersion": 1 }),
            (400, "bad_request"),
        ),
        (&bob, &path, json!({ "body": null }), (400, "bad_request")),
        (
            &bob,
            &path,
            json!({ "body": "x", "title": "y" }),
            (400, "bad_request"),
        ),
        (
            &bob,
            "/threads/1/posts/999",
            fine.clone(),
            (404, "not_found"),
        ),
        (
            &bob,
            "/threads/999/posts/1",
            fine.clone(),
            (404, "not_found"),
        ),
        (
            &bob,
            "/threads/007/posts/1",
            fine.clone(),
            (404, "not_found"),
        ),
        (
            &bob,
            "/threads/1/posts/",
            fine.clone(),
            (404, "no_such_route"),
        ),
    ] {
        let refused = patch(&server, token, path, &body);
        assert_eq!(refusal(&refused), (code.0, code.1.into()), "{path} {body}");
    }
    assert_eq!(patch(&server, &bob, &path, &fine).json()["version"], 2);
}

#[test]
fn the_window_and_the_lock_bind_authors_alone() {
    let server = Server::new(&[]);
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    let path = reply(&server, &bob);
    let body = json!({ "body": "x" });
    let answers = || [&bob, &moderator].map(|token| patch(&server, token, &path, &body).status);
    assert_eq!(answers(), [200, 200]);
    let window = |value| {
        server
            .command(&["setting", "post.edit_window_minutes", value])
            .status
    };
    assert_eq!(window("0"), 0);
    assert_eq!(answers(), [403, 200]);
    assert_eq!(window("unlimited"), 0);
    assert_eq!(answers(), [200, 200]);
    let thread = path.split('/').nth(2).unwrap();
    assert_eq!(server.command(&["thread", "lock", thread]).status, 0);
    assert_eq!(answers(), [403, 200]);
    assert_eq!(server.command(&["thread", "unlock", thread]).status, 0);
    assert_eq!(answers(), [200, 200]);
}

#[test]
fn a_stale_edit_is_told_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let bob = server.token("bob");
    let path = reply(&server, &bob);
    let stale = json!({ "body": "x", "expectedVersion": 0 });
    let refused = patch(&server, &bob, &path, &stale).json();
    assert_eq!(
        refused["error"]["message"],
        "Das wurde inzwischen geändert."
    );
}
