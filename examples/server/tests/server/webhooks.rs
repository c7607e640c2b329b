//! `webhook add`, `list`, `remove`, `rotate`, `activate`, `ping`, `enable`, `disable`: the real server sends, a real
//! receiver gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::program::Server;
use crate::receiver::Receiver;

const DONE: fn() -> Value = || json!({ "ok": true });

/// A server whose webhooks may go to this machine.
pub fn server() -> Server {
    Server::new(&[
        "--allow-private-webhooks",
        "--webhook-initial-backoff",
        "0.1",
    ])
}

/// Registers the receiver, and gives what was printed.
pub fn add(server: &Server, receiver: &Receiver, arguments: &[&str]) -> Value {
    let add = ["webhook", "add", "--url", &receiver.url, "--json"];
    let flag = ["--allow-private-webhooks"];
    let added = server.command(&[&add[..], &flag, arguments].concat());
    assert_eq!(added.status, 0, "{added:?}");
    added.json()
}

/// Replies in a thread of Announcements; gives the post.
pub fn reply(server: &Server, token: &str, body: &str) -> Value {
    let reply = server.post(token, "/threads/1/posts", &json!({ "body": body }));
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json()
}

fn webhook(server: &Server, action: &str, id: &str) -> Value {
    server.command(&["webhook", action, id, "--json"]).json()
}

#[test]
fn a_reply_reaches_the_receiver_signed() {
    let (server, receiver) = (server(), Receiver::new());
    let endpoint = add(&server, &receiver, &[]);
    let secret = endpoint["secret"].as_str().unwrap();
    assert!(
        secret.starts_with("whsec_") && secret.len() == 49,
        "{secret}"
    );
    let post = reply(&server, &server.token("alice"), "Hello, receiver.");
    let received = receiver.next();
    assert!(received.is_signed_with(secret));
    assert!(!received.is_signed_with("another secret, as long"));
    assert_eq!(received.header("x-forum-event"), "post.created");
    assert_eq!(received.header("content-type"), "application/json");
    let version = concat!("forum-api/", env!("CARGO_PKG_VERSION"));
    assert_eq!(received.header("user-agent"), version);
    let body = received.json();
    assert_eq!(body["topic"], "post.created");
    assert_eq!(body["data"]["post"]["postId"], post["postId"]);
    assert_eq!(body["data"]["actor"]["username"], "alice");
    assert_eq!(body["data"]["forum"]["title"], "Announcements");
    assert!(body["data"]["post"].get("canEdit").is_none());
}

#[test]
fn endpoints_are_listed_without_their_secret() {
    let (server, receiver) = (server(), Receiver::new());
    let topics = ["--topics", "post.created,*,message.sent", "--owner", "mod"];
    let mut added = add(&server, &receiver, &topics);
    added.as_object_mut().unwrap().remove("secret").unwrap();
    let names: Vec<_> = added.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["createdAt", "enabled", "id", "owner", "topics", "url"]
    );
    assert_eq!(added["url"], receiver.url);
    assert_eq!(
        (&added["owner"], &added["enabled"]),
        (&json!("mod"), &json!(true))
    );
    add(&server, &receiver, &[]);
    let list = server.command(&["webhook", "list", "--json"]).json();
    assert_eq!(list[0], added);
    assert_eq!(
        (&list[1]["owner"], &list[1]["topics"]),
        (&json!("admin"), &json!(["*"]))
    );
    let text = server.command(&["webhook", "list"]).out;
    assert_eq!(text.lines().count(), 2);
    assert!(!text.contains("whsec_"));
}

#[test]
fn what_cannot_be_registered_is_refused_in_a_sentence() {
    let server = Server::new(&[]);
    let url = "https://receiver.example/";
    for (arguments, says) in [
        (
            &["--url", "http://127.0.0.1:9/"][..],
            "--allow-private-webhooks",
        ),
        (
            &["--url", "http://[::ffff:7f00:1]/", "--json"],
            "--allow-private-webhooks",
        ),
        (
            &[
                "--url",
                "http://169.254.169.254/",
                "--allow-private-webhooks",
            ],
            "169.254.169.254",
        ),
        (&["--url", "ftp://receiver.example/"], "http"),
        (
            &["--url", "https://user:word@receiver.example/"],
            "password",
        ),
        (&["--url", "receiver"], "URL"),
        (&["--url", url, "--owner", "nobody"], "nobody"),
        (&["--url", url, "--topics", "post.liked"], "post.liked"),
        (&["--url", url, "--topics", "ping"], "ping"),
        (&["--url", url, "--topics", ""], "topic"),
    ] {
        let refused = server.command(&[&["webhook", "add"], arguments].concat());
        assert!(refused.refusal().contains(says), "{refused:?}");
    }
    let short = ["webhook", "add", "--url", url, "--secret-stdin"];
    let refused = server.command_with(&short, "fifteen letters\n");
    assert!(refused.refusal().contains("16"), "{refused:?}");
    assert_eq!(
        server.command(&["webhook", "list", "--json"]).json(),
        json!([])
    );
    for action in ["remove", "rotate", "activate", "ping", "enable", "disable"] {
        let refused = server.command(&["webhook", action, "whe_none"]);
        assert!(refused.refusal().contains("no endpoint"), "{refused:?}");
        assert_eq!(
            server.command(&["webhook", action, "no id at all"]).status,
            2
        );
    }
}

#[test]
fn an_operator_may_bring_the_secret() {
    let (server, receiver) = (server(), Receiver::new());
    let secret = "sixteen letters.";
    let add = [
        "webhook",
        "add",
        "--secret-stdin",
        "--allow-private-webhooks",
        "--url",
        &receiver.url,
    ];
    let added = server.command_with(&add, &format!("{secret}\n"));
    let (id, shown) = added.out.trim_end().split_once(' ').unwrap();
    assert_eq!(shown, secret);
    assert_eq!(webhook(&server, "ping", id), DONE());
    assert!(receiver.next().is_signed_with(secret));
}

/// The topics of an endpoint's deliveries.
fn topics(server: &Server, endpoint: &str) -> Vec<String> {
    let list = ["delivery", "list", "--endpoint", endpoint, "--json"];
    let listed = server.command(&list).json();
    let topics = listed.as_array().unwrap().iter();
    topics
        .map(|one| one["topic"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_ping_goes_to_one_endpoint_whatever_its_topics() {
    let (server, receiver, other) = (server(), Receiver::new(), Receiver::new());
    let endpoint = add(&server, &receiver, &["--topics", "poll.voted"]);
    add(&server, &other, &[]);
    let id = endpoint["id"].as_str().unwrap();
    assert_eq!(webhook(&server, "ping", id), DONE());
    let ping = receiver.next();
    assert_eq!(ping.header("x-forum-event"), "ping");
    assert_eq!(ping.json()["data"], json!({}));
    assert_eq!(webhook(&server, "disable", id), DONE());
    let refused = server.command(&["webhook", "ping", id]);
    assert!(refused.refusal().contains("disabled"));
    reply(&server, &server.token("alice"), "A reply.");
    assert_eq!(other.next().header("x-forum-event"), "post.created");
    assert_eq!(topics(&server, id), ["ping"]);
}

#[test]
fn a_rotation_has_two_steps() {
    let (server, receiver) = (server(), Receiver::new());
    let endpoint = add(&server, &receiver, &[]);
    let (id, old) = (
        endpoint["id"].as_str().unwrap(),
        endpoint["secret"].as_str().unwrap(),
    );
    let nothing = server.command(&["webhook", "activate", id]);
    assert!(!nothing.refusal().is_empty());
    let rotated = webhook(&server, "rotate", id);
    let new = rotated["secret"].as_str().unwrap();
    assert_ne!(new, old);
    webhook(&server, "ping", id);
    assert!(receiver.next().is_signed_with(old));
    assert_eq!(webhook(&server, "activate", id), DONE());
    webhook(&server, "ping", id);
    assert!(receiver.next().is_signed_with(new));
}

#[test]
fn what_is_queued_for_a_disabled_endpoint_waits_and_nothing_new_is_queued() {
    let ready = Arc::new(AtomicBool::new(false));
    let is_ready = ready.clone();
    let receiver = Receiver::answering(move |_| match is_ready.load(Ordering::SeqCst) {
        true => Some(204),
        false => Some(503),
    });
    let server = Server::new(&[
        "--allow-private-webhooks",
        "--webhook-initial-backoff",
        "0.5",
    ]);
    let endpoint = add(&server, &receiver, &[]);
    let id = endpoint["id"].as_str().unwrap();
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    reply(&server, &alice, "before");
    let failed = receiver.next();
    assert_eq!(webhook(&server, "disable", id), DONE());
    let other = Receiver::new();
    add(&server, &other, &[]);
    reply(&server, &bob, "meanwhile");
    other.next();
    ready.store(true, Ordering::SeqCst);
    assert_eq!(webhook(&server, "enable", id), DONE());
    let retried = receiver.next();
    assert_eq!(
        (retried.delivery(), retried.body),
        (failed.delivery(), failed.body)
    );
    assert_eq!(topics(&server, id), ["post.created"]);
}

#[test]
fn what_was_queued_for_a_removed_endpoint_goes_with_it() {
    let server = server();
    let receiver = Receiver::answering(|_| Some(503));
    let endpoint = add(&server, &receiver, &[]);
    let id = endpoint["id"].as_str().unwrap();
    webhook(&server, "ping", id);
    receiver.next();
    let refused = server.command(&["webhook", "remove", id]);
    assert!(refused.refusal().contains("--yes"), "{refused:?}");
    assert_eq!(
        server
            .command(&["webhook", "remove", id, "--yes", "--json"])
            .json(),
        DONE()
    );
    let listed = server.command(&["delivery", "list", "--json"]);
    assert_eq!(listed.json(), json!([]));
}
