//! `GET /me`.

use serde_json::{Value, json};

use crate::client::{Answer, get, send};
use crate::program::Server;
use crate::road::{Request, refusal};

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/me",
        body: "",
        owner: "bob",
        scope: "members:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_road();
}

/// The answer to somebody of whom the board has noted that they were seen.
fn noted(server: &Server, token: &str) -> Answer {
    loop {
        let me = server.get(token, "/me");
        assert_eq!(me.status, 200, "nobody noted it: {me:?}");
        if me.json()["owner"]["lastSeenAt"].is_string() {
            return me;
        }
    }
}

#[test]
fn the_owner_is_the_member_whom_everybody_sees() {
    let server = Server::new(&[]);
    for name in ["alice", "mod", "newbie", "admin"] {
        let token = server.token(name);
        let me = noted(&server, &token).json();
        let profile = get(&server.api(&format!("/members/@{name}"))).json();
        assert_eq!(me["owner"], profile);
        assert_eq!(me["owner"]["username"], name);
    }
}

#[test]
fn the_token_tells_what_it_carries() {
    let server = Server::new(&[]);
    let all = server.get(&server.token("mod"), "/me").json();
    assert_eq!(all["scopes"].as_array().map(Vec::len), Some(13));
    assert_eq!(all["unreadMessages"], 0);
    assert_eq!(all["token"]["label"], "");
    assert_eq!(all["token"]["expiresAt"], Value::Null);
    let few = server.token_with("mod", "search:read,members:read");
    let few = server.get(&few, "/me").json();
    let mut scopes = few["scopes"].as_array().unwrap().clone();
    scopes.sort_by_key(Value::to_string);
    assert_eq!(json!(scopes), json!(["members:read", "search:read"]));
    assert_eq!(few["unreadMessages"], Value::Null);
}

#[test]
fn it_takes_no_query() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    for query in ["fields=owner", "limit=1", "="] {
        let refused = server.get(&bob, &format!("/me?{query}"));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
    }
}

#[test]
fn its_head_and_its_tag_save_the_body() {
    let server = Server::new(&[]);
    let token = server.token("bob");
    let first = noted(&server, &token);
    let tag = first.header("etag").unwrap();
    let bearer = format!("Bearer {token}");
    for (method, known, status) in [("HEAD", "", 200), ("GET", tag, 304), ("HEAD", tag, 304)] {
        let headers = [("authorization", &*bearer), ("if-none-match", known)];
        let answer = send(method, &server.api("/me"), &headers, "");
        assert_eq!((answer.status, &*answer.body), (status, ""));
        assert_eq!(answer.header("etag"), Some(tag));
    }
}
