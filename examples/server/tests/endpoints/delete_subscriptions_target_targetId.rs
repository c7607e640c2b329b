//! `DELETE /subscriptions/{target}/{targetId}`.

use serde_json::json;

use crate::program::Server;
use crate::road::{Request, refusal};

fn follow(server: &Server, token: &str) {
    let what = json!({ "target": "forum", "targetId": "4" });
    assert_eq!(server.post(token, "/subscriptions", &what).status, 201);
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "DELETE",
        path: "/subscriptions/forum/4",
        body: "",
        owner: "bob",
        scope: "subscriptions:write",
        cost: 2,
        success: 204,
    };
    request.keeps_to_the_road_after(|server| follow(server, &server.token("bob")));
}

#[test]
fn what_is_unfollowed_is_not_followed_any_more() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    follow(&server, &bob);
    let unfollow = |path: &str| server.ask("DELETE", &bob, path, "");
    let gone = unfollow("/subscriptions/forum/4");
    assert_eq!((gone.status, &*gone.body), (204, ""));
    for (path, code) in [
        ("/subscriptions/forum/4", "NOT_FOUND"),
        ("/subscriptions/thread/4", "NOT_FOUND"),
        ("/subscriptions/thread/999", "NOT_FOUND"),
        ("/subscriptions/thread/abc", "NOT_FOUND"),
        ("/subscriptions/post/4", "not_found"),
        ("/subscriptions/forum/a%20b", "not_found"),
        ("/subscriptions/forum", "no_such_route"),
    ] {
        assert_eq!(refusal(&unfollow(path)), (404, code.into()), "{path}");
    }
}

#[test]
fn what_is_invisible_now_is_still_unfollowed() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    follow(&server, &bob);
    assert_eq!(
        server
            .command(&["member", "groups", "bob", "guests"])
            .status,
        0
    );
    let unfollow = || server.ask("DELETE", &bob, "/subscriptions/forum/4", "");
    assert_eq!(server.get(&bob, "/forums/4/threads").status, 404);
    assert_eq!(unfollow().status, 204);
    assert_eq!(refusal(&unfollow()), (404, "NOT_FOUND".into()));
}
