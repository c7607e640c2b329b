//! `POST /messages`.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::program::Server;
use crate::road::{Request, all, number, refusal};

fn to(names: &[&str]) -> Value {
    json!({ "to": names, "subject": "Tea", "body": "At *five*?" })
}

/// What the refusal is, and the field that its message names.
fn about(answer: &Answer) -> (u16, String, String) {
    let (status, code) = refusal(answer);
    let message = answer.json()["error"]["message"].clone();
    let field = message.as_str().unwrap().split(':').next().unwrap().into();
    (status, code, field)
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "POST",
        path: "/messages",
        body: &to(&["@bob"]).to_string(),
        owner: "alice",
        scope: "messages:write",
        cost: 10,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn the_senders_copy_is_answered_and_each_recipient_finds_theirs() {
    let server = Server::new(&[]);
    let alice = server.token("alice");
    let bob = server.get(&alice, "/members/@bob").json()["userId"].clone();
    let sent = server.post(
        &alice,
        "/messages",
        &to(&["@CAROL", bob.as_str().unwrap(), "@bob", "@carol"]),
    );
    let message = sent.json();
    assert_eq!((sent.status, &message["folder"]), (201, &json!("sent")));
    assert_eq!(message["readAt"], message["sentAt"]);
    assert_eq!(message["bodyHtml"], "<p>At <em>five</em>?</p>\n");
    let names: Vec<_> = message["recipients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["username"])
        .collect();
    assert_eq!(names, ["carol", "bob"]);
    let path = format!("/messages/{}", message["messageId"].as_str().unwrap());
    assert_eq!(sent.header("location"), Some(&*format!("/api/v1{path}")));
    assert_eq!(server.get(&alice, &path).json(), message);
    for name in ["bob", "carol"] {
        let inbox = server.get(&server.token(name), "/messages");
        assert_eq!(all(&inbox, "subject")[0], "Tea", "{name}");
    }
}

#[test]
fn contents_and_recipients_have_their_limits() {
    let server = Server::new(&[]);
    let alice = server.token("alice");
    for (key, value) in [
        ("thread.title_max", "3"),
        ("post.body_max", "10"),
        ("message.recipients_max", "2"),
    ] {
        assert_eq!(server.command(&["setting", key, value]).status, 0);
    }
    let with = |field: &str, value: Value| {
        let mut new = to(&["@bob", "@mod"]);
        new[field] = value;
        server.post(&alice, "/messages", &new)
    };
    assert_eq!(with("subject", json!(" Täé ")).status, 201);
    for (field, value) in [
        ("subject", json!("long")),
        ("subject", json!(" ")),
        ("body", json!("eleven char")),
        ("body", json!("")),
        ("to", json!([])),
        ("to", json!(["@bob", "@mod", "@carol"])),
        ("to", json!(["@bob", "@mod", "@a", "@b", "@c"])),
    ] {
        let refused = with(field, value.clone());
        assert_eq!(
            about(&refused),
            (422, "VALIDATION".into(), field.into()),
            "{value}"
        );
    }
    for (field, value) in [
        ("to", json!("@bob")),
        ("subject", json!(null)),
        ("cc", json!([])),
    ] {
        let refused = with(field, value);
        assert_eq!(about(&refused), (400, "bad_request".into(), field.into()));
    }
    assert_eq!(
        all(&server.get(&alice, "/messages?folder=sent"), "subject"),
        ["Täé", "Your dynamo"]
    );
}

#[test]
fn a_recipient_has_to_be_there_and_willing_and_have_room() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    for nobody in ["@nobody", "999", "007", "x y", "@"] {
        let refused = server.post(&alice, "/messages", &to(&["@mod", nobody]));
        assert_eq!(
            about(&refused),
            (404, "NOT_FOUND".into(), "to".into()),
            "{nobody}"
        );
    }
    let refused = server.post(&bob, "/messages", &to(&["@mod", "@carol"]));
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".into()));
    assert_eq!(
        refused.json()["error"]["message"],
        "carol takes no messages from you."
    );
    assert_eq!(
        server
            .command(&["setting", "message.inbox_quota", "1"])
            .status,
        0
    );
    let refused = server.post(&alice, "/messages", &to(&["@mod", "@bob"]));
    assert_eq!(about(&refused), (422, "VALIDATION".into(), "to".into()));
    let moderator = server.token("mod");
    assert_eq!(
        all(&server.get(&moderator, "/messages"), "subject").len(),
        0
    );
    for (names, status) in [
        (["@mod"], 201),
        (["@mod"], 422),
        (["@alice"], 201),
        (["@mallory"], 201),
    ] {
        assert_eq!(
            server.post(&alice, "/messages", &to(&names)).status,
            status,
            "{names:?}"
        );
    }
}

#[test]
fn a_banned_member_finds_what_came_meanwhile() {
    let server = Server::new(&[]);
    assert_eq!(
        server
            .post(&server.token("alice"), "/messages", &to(&["@mallory"]))
            .status,
        201
    );
    assert_eq!(server.command(&["member", "unban", "mallory"]).status, 0);
    let inbox = server.get(&server.token("mallory"), "/messages");
    assert_eq!(all(&inbox, "subject"), ["Tea"]);
}

#[test]
fn an_hour_has_room_for_so_many_messages() {
    let server = Server::new(&[]);
    let alice = server.token("alice");
    assert_eq!(
        server.command(&["setting", "message.per_hour", "2"]).status,
        0
    );
    let send = |name| server.post(&alice, "/messages", &to(&[name]));
    assert_eq!(
        [
            send("@bob").status,
            send("@nobody").status,
            send("@bob").status
        ],
        [201, 404, 201]
    );
    let refused = send("@mod");
    assert_eq!(refusal(&refused), (429, "RATE_LIMITED".into()));
    assert!((3500..=3600).contains(&number(&refused, "retry-after")));
    assert_eq!(
        server
            .post(&server.token("mod"), "/messages", &to(&["@bob"]))
            .status,
        201
    );
}

#[test]
fn refusals_and_receipts_are_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let refused = server.post(&bob, "/messages", &to(&["@carol"]));
    let text = "carol nimmt von Ihnen keine Nachrichten an.";
    assert_eq!(refused.json()["error"]["message"], text);
    let list = server.get(&bob, "/messages");
    let path = format!("/messages/{}", all(&list, "messageId")[0].as_str().unwrap());
    assert_eq!(server.get(&bob, &path).status, 200);
    let list = server.get(&alice, "/messages");
    let path = format!("/messages/{}", all(&list, "messageId")[0].as_str().unwrap());
    let receipt = server.get(&alice, &path).json();
    assert_eq!(receipt["subject"], "Read: Your dynamo");
    assert_eq!(receipt["body"], "Ihre Nachricht wurde gelesen.");
}
