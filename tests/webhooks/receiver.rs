//! The example receiver: the real program, and what it makes of deliveries.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{Event, Outgoing};

use crate::client;
use crate::program::example;
use crate::sample::{attempt, secret};

/// A receiver that runs, with the secrets of the letters A and B.
struct Receiver {
    child: Child,
    out: Option<JoinHandle<Vec<String>>>,
    url: String,
}

impl Receiver {
    fn new() -> Self {
        let secrets = ["A", "B"].map(|letter| secret(letter).reveal().to_owned());
        let mut child = Command::new(example("receiver"))
            .arg("127.0.0.1:0")
            .env("WEBHOOK_SECRETS", secrets.join(","))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`cargo build --example receiver` comes first");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let url = lines.next().unwrap();
        let out = Some(thread::spawn(|| lines.collect()));
        Self { child, out, url }
    }

    /// The status that it answers with.
    fn status(&self, delivery: &Outgoing) -> u16 {
        let headers = delivery.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        let body = std::str::from_utf8(&delivery.body).unwrap();
        client::send("POST", &self.url, &headers, body).status
    }

    /// What it printed, after its end.
    fn printed(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.out.take().unwrap().join().unwrap()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A delivery of now, signed with the secret of this letter.
fn delivery(letter: &str, id: &str, body: &str) -> Outgoing {
    attempt(&secret(letter), id, body, SystemClock.now())
}

#[test]
fn a_receiver_takes_once_what_is_verified_and_nothing_else() {
    let receiver = Receiver::new();
    let largest = "x".repeat(Event::MAX_BODY);
    for (letter, id, body, status) in [
        ("A", "dlv_1", "first", 204),
        ("A", "dlv_1", "first", 204),
        ("B", "dlv_1", "first", 204),
        ("B", "dlv_2", "second", 204),
        ("C", "dlv_3", "foreign", 401),
        ("A", "dlv_4", &largest, 204),
        ("A", "dlv_5", &format!("{largest}x"), 413),
        ("A", "dlv_6", "last", 204),
    ] {
        assert_eq!(receiver.status(&delivery(letter, id, body)), status, "{id}");
    }
    let mut unsigned = delivery("A", "dlv_7", "unsigned");
    unsigned.headers.remove("x-forum-signature");
    assert_eq!(receiver.status(&unsigned), 401);
    let expected = [
        ("dlv_1", "first"),
        ("dlv_2", "second"),
        ("dlv_4", &largest),
        ("dlv_6", "last"),
    ]
    .map(|(id, body)| format!("thread.created {id} {body}"));
    assert_eq!(receiver.printed(), expected);
}

#[test]
fn a_receiver_needs_a_secret() {
    for secrets in [None, Some("short")] {
        let mut command = Command::new(example("receiver"));
        command.arg("127.0.0.1:0").env_remove("WEBHOOK_SECRETS");
        command.envs(secrets.map(|secrets| ("WEBHOOK_SECRETS", secrets)));
        let output = command.output().unwrap();
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{secrets:?}"
        );
    }
}
