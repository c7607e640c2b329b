//! All endpoints of the served document, each with success in one run of the server.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::client::{Answer, get, send};
use crate::places::{options, poll, reply, tea};
use crate::program::Server;

/// Method, path, who asks, body and status.
type Row = (
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
    u16,
);

const GUEST: Option<&str> = None;
const ALICE: Option<&str> = Some("alice");
const BOB: Option<&str> = Some("bob");
const CAROL: Option<&str> = Some("carol");
const MODERATOR: Option<&str> = Some("mod");

/// In the specification's order.
#[rustfmt::skip]
const ROWS: [Row; 21] = [
    ("GET", "/me", BOB, "", 200),
    ("GET", "/forums", GUEST, "", 200),
    ("GET", "/forums/{forumId}/threads", GUEST, "", 200),
    ("POST", "/forums/{forumId}/threads", ALICE, r#"{"title":"Sugar","body":"White?"}"#, 201),
    ("GET", "/threads/{threadId}", GUEST, "", 200),
    ("GET", "/threads/{threadId}/posts", GUEST, "", 200),
    ("POST", "/threads/{threadId}/posts", CAROL, r#"{"body":"Brown."}"#, 201),
    ("PATCH", "/threads/{threadId}/posts/{postId}", BOB, r#"{"body":"None."}"#, 200),
    ("DELETE", "/threads/{threadId}/posts/{postId}", MODERATOR, "", 204),
    ("GET", "/members/{userId}", GUEST, "", 200),
    ("POST", "/members/{userId}/reputation", BOB, r#"{"points":1,"comment":"Well said."}"#, 201),
    ("GET", "/messages", BOB, "", 200),
    ("POST", "/messages", CAROL, r#"{"to":["{userId}"],"subject":"Tea","body":"Today?"}"#, 201),
    ("GET", "/messages/{messageId}", BOB, "", 200),
    ("GET", "/threads/{threadId}/poll", GUEST, "", 200),
    ("POST", "/polls/{pollId}/votes", CAROL, r#"{"optionIds":["{optionId}"]}"#, 201),
    ("PATCH", "/polls/{pollId}", MODERATOR, r#"{"question":"Which?"}"#, 200),
    ("GET", "/subscriptions", BOB, "", 200),
    ("POST", "/subscriptions", BOB, r#"{"target":"{target}","targetId":"{targetId}"}"#, 201),
    ("DELETE", "/subscriptions/{target}/{targetId}", BOB, "", 204),
    ("GET", "/search?q=tea", GUEST, "", 200),
];

#[test]
fn every_endpoint_answers_the_right_caller() {
    let server = Server::new(&[]);
    let values = values(&server);
    for (method, path, caller, body, status) in ROWS {
        let fill = |text: &str| {
            let put = |text: String, (name, value): &(&str, String)| text.replace(name, value);
            values.iter().fold(text.to_owned(), put)
        };
        let answer = ask(&server, method, &fill(path), caller, &fill(body));
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
    }
}

#[test]
fn these_are_all_that_the_document_lists() {
    let document = get(&Server::new(&[]).api("/openapi.json")).json();
    let names = |value: &Value| -> Vec<String> {
        let object = value.as_object().unwrap();
        object.keys().cloned().collect()
    };
    let listed = names(&document["paths"]).into_iter().flat_map(|path| {
        let methods = names(&document["paths"][&path]).into_iter();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let rows = ROWS.map(|(method, path, ..)| {
        let path = path.split('?').next().unwrap();
        format!("{method} {path}")
    });
    assert_eq!(listed.collect::<BTreeSet<_>>(), BTreeSet::from(rows));
}

/// What stands on the demo board for each name in braces.
fn values(server: &Server) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let bob = server.token("bob");
    let poll = poll(server, &bob);
    let post = reply(server, &bob);
    let inbox = server.get(&bob, "/messages").json();
    let thread = tea(server).split('/').nth(2).unwrap().to_owned();
    vec![
        ("{forumId}", "2".into()),
        ("{threadId}", thread.clone()),
        ("{postId}", post.rsplit('/').next().unwrap().into()),
        ("{userId}", "@alice".into()),
        ("{messageId}", text(&inbox["items"][0]["messageId"])),
        ("{pollId}", text(&poll["pollId"])),
        ("{optionId}", options(&poll)[0].into()),
        ("{target}", "thread".into()),
        ("{targetId}", thread),
    ]
}

fn ask(server: &Server, method: &str, path: &str, caller: Option<&str>, body: &str) -> Answer {
    match caller {
        Some(name) => server.ask(method, &server.token(name), path, body),
        None => send(method, &server.api(path), &[], body),
    }
}
