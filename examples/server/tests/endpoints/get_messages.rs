//! `GET /messages`.

use serde_json::{Value, json};

use crate::program::Server;
use crate::road::{Request, all, refusal};

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/messages",
        body: "",
        owner: "bob",
        scope: "messages:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_road();
}

#[test]
fn each_party_of_the_demo_boards_message_finds_its_copy() {
    let server = Server::new(&[]);
    let inbox = server.get(&server.token("bob"), "/messages").json();
    let message = &inbox["items"][0];
    assert_eq!(inbox["items"].as_array().unwrap().len(), 1);
    assert_eq!(inbox["next"], Value::Null);
    let fields: Vec<&str> = message
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        fields,
        [
            "folder",
            "messageId",
            "readAt",
            "receiptRequested",
            "recipients",
            "sender",
            "sentAt",
            "subject",
        ]
    );
    assert_eq!(message["sender"]["username"], "alice");
    assert_eq!(message["recipients"][0]["username"], "bob");
    assert_eq!(
        (&message["readAt"], &message["receiptRequested"]),
        (&json!(null), &json!(true))
    );
    let sent = server
        .get(&server.token("alice"), "/messages?folder=sent")
        .json();
    let copy = &sent["items"][0];
    assert_eq!(
        (&copy["subject"], &copy["readAt"]),
        (&message["subject"], &copy["sentAt"])
    );
    assert_ne!(copy["messageId"], message["messageId"]);
    for name in ["mod", "admin", "carol"] {
        let token = server.token(name);
        for folder in ["inbox", "sent"] {
            let list = server.get(&token, &format!("/messages?folder={folder}"));
            assert_eq!(all(&list, "messageId").len(), 0, "{name}");
        }
    }
}

#[test]
fn a_page_leads_to_the_next_and_a_cursor_to_its_own_list_alone() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    for subject in ["one", "two", "three"] {
        let new = json!({ "to": ["@bob"], "subject": subject, "body": "x" });
        assert_eq!(server.post(&alice, "/messages", &new).status, 201);
    }
    let first = server.get(&bob, "/messages?limit=2");
    assert_eq!(all(&first, "subject"), ["three", "two"]);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let link = format!("</api/v1/messages?limit=2&after={next}>; rel=\"next\"");
    assert_eq!(first.header("link"), Some(&*link.to_lowercase()));
    let last = server.get(&bob, &format!("/messages?limit=2&after={next}"));
    assert_eq!(all(&last, "subject"), ["one", "Your dynamo"]);
    assert_eq!(
        (&last.json()["next"], last.header("link")),
        (&Value::Null, None)
    );
    for (token, other) in [(&alice, ""), (&bob, "&folder=sent"), (&bob, "&unread=true")] {
        let refused = server.get(token, &format!("/messages?after={next}{other}"));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{other}");
    }
}

#[test]
fn listing_marks_nothing_read_and_filters_tell_what_was() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let count = |filter: &str| {
        all(
            &server.get(&bob, &format!("/messages{filter}")),
            "messageId",
        )
        .len()
    };
    let unread = || server.get(&bob, "/me").json()["unreadMessages"].clone();
    assert_eq!(
        [count(""), count("?unread=true"), count("?unread=false")],
        [1, 1, 0]
    );
    assert_eq!(unread(), 1);
    let id = all(&server.get(&bob, "/messages"), "messageId")[0].clone();
    assert_eq!(
        server
            .get(&bob, &format!("/messages/{}", id.as_str().unwrap()))
            .status,
        200
    );
    assert_eq!(
        [count(""), count("?unread=true"), count("?unread=false")],
        [1, 0, 1]
    );
    assert_eq!(unread(), 0);
}

#[test]
fn the_count_of_unread_ones_is_for_tokens_that_may_read_them() {
    let server = Server::new(&[]);
    for (scopes, unread) in [
        ("members:read", json!(null)),
        ("members:read,messages:read", json!(1)),
    ] {
        let me = server.get(&server.token_with("bob", scopes), "/me").json();
        assert_eq!(me["unreadMessages"], unread, "{scopes}");
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    for (query, name) in [
        ("folder=drafts", "folder"),
        ("unread=1", "unread"),
        ("limit=0", "limit"),
        ("after=x", "after"),
        ("sort=newest", "sort"),
    ] {
        let refused = server.get(&bob, &format!("/messages?{query}"));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
        let message = refused.json()["error"]["message"].clone();
        assert!(
            message.as_str().unwrap().starts_with(&format!("{name}: ")),
            "{message}"
        );
    }
}
