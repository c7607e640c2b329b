//! `GET /messages/{messageId}`.

use std::thread;

use serde_json::json;

use crate::client::{Answer, send};
use crate::program::Server;
use crate::road::{Request, all, refusal};

/// The path of the newest message of somebody's inbox.
fn newest(server: &Server, token: &str) -> String {
    let list = server.get(token, "/messages");
    format!("/messages/{}", all(&list, "messageId")[0].as_str().unwrap())
}

fn head(server: &Server, token: &str, path: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    send("HEAD", &server.api(path), &[("authorization", &bearer)], "")
}

#[test]
fn it_keeps_to_the_road() {
    let server = Server::new(&[]);
    let request = Request {
        method: "GET",
        path: &newest(&server, &server.token("bob")),
        body: "",
        owner: "bob",
        scope: "messages:read",
        cost: 1,
        success: 200,
    };
    drop(server);
    request.keeps_to_the_road();
}

#[test]
fn the_first_opening_is_noted_and_no_etag_keeps_a_later_one_from_the_board() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let path = newest(&server, &bob);
    let first = server.get(&bob, &path);
    let message = first.json();
    assert_eq!((first.status, first.header("etag")), (200, None));
    assert!(message["readAt"].is_string(), "{message}");
    assert!(
        message["bodyHtml"]
            .as_str()
            .unwrap()
            .contains("<strong>working</strong>")
    );
    assert!(message["body"].as_str().unwrap().contains("**working**"));
    assert_eq!(server.get(&bob, &path).json(), message);
}

#[test]
fn one_receipt_comes_however_many_openings_race() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let path = newest(&server, &bob);
    thread::scope(|scope| {
        let openings: Vec<_> = (0..32)
            .map(|_| scope.spawn(|| server.get(&bob, &path).json()))
            .collect();
        let mut opened: Vec<_> = openings
            .into_iter()
            .map(|opening| opening.join().unwrap())
            .collect();
        opened.dedup();
        assert_eq!(opened.len(), 1, "{opened:?}");
    });
    let inbox = server.get(&alice, "/messages");
    assert_eq!(all(&inbox, "subject"), ["Read: Your dynamo"]);
    let receipt = server.get(&alice, &newest(&server, &alice)).json();
    assert_eq!(receipt["sender"]["username"], "bob");
    assert_eq!(receipt["recipients"][0]["username"], "alice");
    assert_eq!(
        (&receipt["receiptRequested"], &receipt["body"]),
        (&json!(false), &json!("Your message was read."))
    );
    assert_eq!(
        all(&server.get(&bob, "/messages?folder=sent"), "subject").len(),
        0
    );
    assert_eq!(
        all(&server.get(&bob, "/messages"), "subject"),
        ["Your dynamo"]
    );
}

#[test]
fn a_head_request_leaves_the_message_unread_and_tells_nobody() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let path = newest(&server, &bob);
    let peeked = head(&server, &bob, &path);
    assert_eq!((peeked.status, &*peeked.body), (200, ""));
    assert_eq!(head(&server, &alice, &path).status, 404);
    assert_eq!(server.get(&bob, "/me").json()["unreadMessages"], 1);
    assert_eq!(all(&server.get(&alice, "/messages"), "subject").len(), 0);
}

#[test]
fn a_receipt_reaches_a_full_inbox_and_counts_on_no_quota() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    for (key, value) in [("message.inbox_quota", "2"), ("message.per_hour", "1")] {
        assert_eq!(server.command(&["setting", key, value]).status, 0);
    }
    let message =
        |to: &str| json!({ "to": [to], "subject": "x", "body": "x", "requestReceipt": true });
    assert_eq!(server.get(&bob, &newest(&server, &bob)).status, 200);
    for name in ["carol", "mod", "newbie"] {
        let sent = server.post(&server.token(name), "/messages", &message("@alice"));
        assert_eq!(
            sent.status,
            if name == "newbie" { 422 } else { 201 },
            "{name}"
        );
    }
    assert_eq!(
        server.post(&alice, "/messages", &message("@bob")).status,
        201
    );
    assert_eq!(server.get(&bob, &newest(&server, &bob)).status, 200);
    let receipts = ["Read: x", "x", "x", "Read: Your dynamo"];
    assert_eq!(all(&server.get(&alice, "/messages"), "subject"), receipts);
    assert_eq!(server.post(&bob, "/messages", &message("@mod")).status, 201);
}

#[test]
fn anothers_copy_is_like_one_that_is_not_there_for_whoever_asks() {
    let server = Server::new(&[]);
    let path = newest(&server, &server.token("bob"));
    for name in ["alice", "carol", "mod", "admin"] {
        let token = server.token(name);
        let hidden = server.get(&token, &path);
        assert_eq!(refusal(&hidden), (404, "not_found".into()), "{name}");
        for nothing in [
            "/messages/999",
            "/messages/007",
            "/messages/x",
            "/messages/@bob",
        ] {
            let absent = server.get(&token, nothing);
            assert_eq!(
                absent.json()["error"]["message"],
                hidden.json()["error"]["message"]
            );
            assert_eq!(refusal(&absent), refusal(&hidden), "{nothing}");
        }
    }
    assert_eq!(
        refusal(&server.get(&server.token("bob"), &format!("{path}?x=1"))),
        (400, "bad_request".into())
    );
    assert_eq!(
        server.get(&server.token("bob"), "/me").json()["unreadMessages"],
        1
    );
}
