//! `GET /members/{userId}`.

use serde_json::{Value, json};

use crate::client::{get, send};
use crate::places::reply;
use crate::program::Server;
use crate::road::{Request, refusal};

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/members/@alice",
        body: "",
        owner: "bob",
        scope: "members:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn a_profile_is_the_same_for_everybody_by_id_and_by_name() {
    let server = Server::new(&[]);
    let carol = get(&server.api("/members/@carol")).json();
    let id = carol["userId"].as_str().unwrap();
    for (field, value) in [
        ("username", json!("carol")),
        ("title", Value::Null),
        ("avatarUrl", Value::Null),
        ("lastSeenAt", Value::Null),
        ("reputation", json!(0)),
    ] {
        assert_eq!(carol[field], value, "{field}");
    }
    assert!(carol["joinedAt"].is_string() && carol["postCount"].as_i64() > Some(0));
    for name in ["bob", "mod", "admin"] {
        let token = server.token(name);
        for user in [id, "@carol", "@CAROL", "%40carol"] {
            let seen = server.get(&token, &format!("/members/{user}"));
            assert_eq!(seen.json(), carol, "{name} {user}");
        }
    }
}

#[test]
fn it_counts_what_everybody_may_read() {
    let server = Server::new(&[]);
    for (name, more) in [("bob", 1), ("newbie", 0)] {
        let count = || {
            let profile = get(&server.api(&format!("/members/@{name}")));
            profile.json()["postCount"].as_i64().unwrap()
        };
        let before = count();
        reply(&server, &server.token(name));
        assert_eq!(count(), before + more, "{name}");
    }
}

#[test]
fn who_is_banned_keeps_the_profile() {
    let server = Server::new(&[]);
    let profile = get(&server.api("/members/@mallory"));
    assert_eq!(profile.json()["postCount"], 1);
}

#[test]
fn nobody_is_found_where_nobody_is() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    for user in ["999", "007", "@nobody", "@", "alice", "@two%20words"] {
        let path = format!("/members/{user}");
        for refused in [get(&server.api(&path)), server.get(&bob, &path)] {
            assert_eq!(refusal(&refused), (404, "not_found".into()), "{user}");
        }
    }
    let query = get(&server.api("/members/@alice?full=1"));
    assert_eq!(refusal(&query), (400, "bad_request".into()));
}

#[test]
fn a_guest_who_sees_no_forum_sees_no_member() {
    let server = Server::new(&["--empty"]);
    let path = "/members/@admin";
    let guest = || refusal(&get(&server.api(path)));
    assert_eq!(guest(), (404, "not_found".into()));
    assert_eq!(server.get(&server.token("admin"), path).status, 200);
    assert_eq!(server.command(&["forum", "add", "Open"]).status, 0);
    assert_eq!(guest(), (200, String::new()));
}

#[test]
fn an_unchanged_profile_is_not_sent_again() {
    let server = Server::new(&[]);
    let url = server.api("/members/@bob");
    let first = get(&url);
    let tag = first.header("etag").unwrap();
    let again = || send("GET", &url, &[("if-none-match", tag)], "").status;
    assert_eq!(again(), 304);
    reply(&server, &server.token("bob"));
    assert_eq!(again(), 200);
}
