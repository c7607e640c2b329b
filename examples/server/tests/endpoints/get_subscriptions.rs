//! `GET /subscriptions`.

use serde_json::json;

use crate::program::Server;
use crate::road::{Request, all, refusal};

fn follow(server: &Server, token: &str, target: &str, id: i64) {
    let what = json!({ "target": target, "targetId": id.to_string() });
    assert_eq!(server.post(token, "/subscriptions", &what).status, 201);
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/subscriptions",
        body: "",
        owner: "bob",
        scope: "subscriptions:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_road();
}

#[test]
fn what_somebody_follows_comes_newest_first_in_pages() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    for (target, id) in [("thread", 1), ("forum", 2), ("thread", 3)] {
        follow(&server, &bob, target, id);
    }
    let first = server.get(&bob, "/subscriptions?limit=2");
    assert_eq!(all(&first, "targetId"), ["3", "2"]);
    assert_eq!(all(&first, "target"), ["thread", "forum"]);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let link = format!("</api/v1/subscriptions?limit=2&after={next}>; rel=\"next\"");
    assert_eq!(first.header("link"), Some(&*link.to_lowercase()));
    let last = server.get(&bob, &format!("/subscriptions?limit=2&after={next}"));
    assert_eq!(all(&last, "targetId"), ["1"]);
    assert_eq!(last.json()["next"], json!(null));
    for (target, ids) in [("forum", &["2"][..]), ("thread", &["3", "1"])] {
        let list = server.get(&bob, &format!("/subscriptions?target={target}"));
        assert_eq!(all(&list, "targetId"), ids);
    }
    let alice = server.token("alice");
    assert_eq!(
        all(&server.get(&alice, "/subscriptions"), "target").len(),
        0
    );
    for (token, query, name) in [
        (&alice, format!("after={next}"), "after"),
        (&bob, format!("after={next}&target=forum"), "after"),
        (&bob, "target=post".into(), "target"),
        (&bob, "limit=101".into(), "limit"),
        (&bob, "sort=newest".into(), "sort"),
    ] {
        let refused = server.get(token, &format!("/subscriptions?{query}"));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
        let message = refused.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with(name), "{message}");
    }
}

#[test]
fn what_becomes_invisible_is_absent_and_comes_back() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    follow(&server, &bob, "forum", 4);
    follow(&server, &bob, "forum", 2);
    let followed = || all(&server.get(&bob, "/subscriptions"), "title");
    assert_eq!(followed(), ["General", "Members"]);
    let groups = |groups| server.command(&["member", "groups", "bob", groups]).status;
    assert_eq!(groups("guests"), 0);
    assert_eq!(followed(), ["General"]);
    assert_eq!(groups("members"), 0);
    assert_eq!(followed(), ["General", "Members"]);
}

#[test]
fn an_unchanged_list_is_not_sent_again() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let etag = server.get(&bob, "/subscriptions");
    let etag = etag.header("etag").unwrap();
    let bearer = format!("Bearer {bob}");
    let headers = [("authorization", &*bearer), ("if-none-match", etag)];
    let ask = || crate::client::send("GET", &server.api("/subscriptions"), &headers, "");
    assert_eq!(ask().status, 304);
    follow(&server, &bob, "forum", 2);
    assert_eq!(ask().status, 200);
}
