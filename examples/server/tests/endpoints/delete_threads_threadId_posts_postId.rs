//! `DELETE /threads/{threadId}/posts/{postId}`.

use serde_json::json;

use crate::client::get;
use crate::places::{first_post, last_post, reply, tea};
use crate::program::Server;
use crate::road::{Request, all, refusal};

#[test]
fn it_keeps_to_the_road() {
    let path = last_post(&Server::new(&[]));
    let request = Request {
        method: "DELETE",
        path: &path,
        body: "",
        owner: "mod",
        scope: "posts:write",
        cost: 5,
        success: 204,
    };
    request.keeps_to_the_road();
}

#[test]
fn who_deletes_again_finds_nothing_or_a_conflict() {
    let server = Server::new(&[]);
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    let path = reply(&server, &bob);
    let deleted = server.ask("DELETE", &bob, &path, "");
    assert_eq!((deleted.status, &*deleted.body), (204, ""));
    for (token, code) in [
        (&bob, (404, "not_found")),
        (&server.token("alice"), (404, "not_found")),
        (&moderator, (409, "CONFLICT")),
    ] {
        let refused = server.ask("DELETE", token, &path, "");
        assert_eq!(refusal(&refused), (code.0, code.1.into()));
    }
    let guests = get(&server.api(&tea(&server)));
    assert_eq!(all(&guests, "postId").len(), 6);
    let moderators = server.get(&moderator, &tea(&server));
    assert_eq!(all(&moderators, "state")[6], "deleted");
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let (path, first) = (reply(&server, &bob), first_post(&server));
    for (token, path, code) in [
        (&alice, &*path, (403, "FORBIDDEN")),
        (&alice, &first, (403, "FORBIDDEN")),
        (&bob, "/threads/1/posts/999", (404, "not_found")),
        (&bob, "/threads/999/posts/1", (404, "not_found")),
        (&bob, &format!("{path}?why=spam"), (400, "bad_request")),
    ] {
        let refused = server.ask("DELETE", token, path, "");
        assert_eq!(refusal(&refused), (code.0, code.1.into()), "{path}");
    }
    let window = ["setting", "post.edit_window_minutes", "0"];
    assert_eq!(server.command(&window).status, 0);
    let late = server.ask("DELETE", &bob, &path, "");
    assert_eq!(refusal(&late), (403, "FORBIDDEN".into()));
}

#[test]
fn a_first_post_takes_its_thread_along_and_brings_it_back() {
    let server = Server::new(&[]);
    let (alice, moderator) = (server.token("alice"), server.token("mod"));
    let (first, tea) = (first_post(&server), tea(&server));
    let counts = || {
        let forum = &get(&server.api("/forums")).json()["items"][1];
        let alice = get(&server.api("/members/@alice")).json();
        (
            [&forum["threadCount"], &forum["postCount"]].map(|count| count.as_i64().unwrap()),
            alice["postCount"].as_i64().unwrap(),
        )
    };
    let before = counts();
    assert_eq!(server.ask("DELETE", &moderator, &first, "").status, 204);
    assert_eq!(
        refusal(&server.get(&alice, &tea)),
        (404, "not_found".into())
    );
    let thread = server
        .get(&moderator, tea.trim_end_matches("/posts"))
        .json();
    assert_eq!(
        (&thread["state"], &thread["canReply"]),
        (&json!("deleted"), &json!(false))
    );
    let reply = server.post(&moderator, &tea, &json!({ "body": "x" }));
    assert_eq!(refusal(&reply), (403, "FORBIDDEN".into()));
    let ([threads, posts], written) = before;
    assert_eq!(counts(), ([threads - 1, posts - 6], written - 2));
    let post = first.rsplit('/').next().unwrap();
    assert_eq!(server.command(&["post", "restore", post]).status, 0);
    assert_eq!(server.get(&alice, &tea).status, 200);
    assert_eq!(counts(), before);
}
