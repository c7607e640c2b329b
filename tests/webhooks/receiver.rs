//! The example receiver as a process.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};

use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{Event, SignedRequest};

use crate::client;
use crate::program::example_path;
use crate::sample::{secret, signed_request};

/// Sends a delivery and returns the status of the response.
fn status(url: &str, delivery: &SignedRequest) -> u16 {
    let headers =
        delivery.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
    let body = std::str::from_utf8(&delivery.body).unwrap();
    client::send("POST", url, &headers.collect::<Vec<_>>(), body).status
}

/// Signs a delivery with the current time and the secret of this letter.
fn delivery(letter: &str, id: &str, body: &str) -> SignedRequest {
    signed_request(&secret(letter), id, body, SystemClock.now())
}

#[test]
fn a_receiver_accepts_each_verified_delivery_once() {
    let secrets = ["A", "B"].map(|letter| secret(letter).expose_secret().to_owned());
    let mut child = Command::new(example_path("receiver"))
        .arg("127.0.0.1:0")
        .env("WEBHOOK_SECRETS", secrets.join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`cargo build --example receiver` comes first");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let printed = std::thread::spawn(|| lines.map(Result::unwrap).collect::<Vec<_>>());
    let body = |text: &str| format!(r#"{{"topic":"thread.created","text":"{text}"}}"#);
    let [first, second, last] = ["first", "second", "last"].map(body);
    let longest = Event::MAX_BODY_LEN - r#""delivery":"dlv_4","#.len() - body("").len();
    let [largest, too_large] = [0, 1].map(|more| body(&"x".repeat(longest + more)));
    let mut unsigned = delivery("A", "dlv_7", &last);
    unsigned.headers.remove("x-forum-signature");
    let statuses = [
        delivery("A", "dlv_1", &first),
        delivery("A", "dlv_1", &first),
        delivery("B", "dlv_1", &first),
        delivery("B", "dlv_2", &second),
        delivery("C", "dlv_3", &second),
        delivery("A", "dlv_4", &largest),
        delivery("A", "dlv_5", &too_large),
        delivery("A", "dlv_6", &last),
        unsigned,
    ]
    .map(|delivery| status(&url, &delivery));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(statuses, [204, 204, 204, 204, 401, 204, 413, 204, 401]);
    let expected =
        [("1", &first), ("2", &second), ("4", &largest), ("6", &last)].map(|(id, body)| {
            let fields = body.strip_prefix('{').unwrap();
            format!(r#"thread.created dlv_{id} {{"delivery":"dlv_{id}",{fields}"#)
        });
    assert_eq!(printed.join().unwrap(), expected);
    let rejected = io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(
        rejected,
        "rejected: the signature matches none of the secrets\n\
         rejected: the header x-forum-signature is missing, repeated or malformed\n"
    );
}

#[test]
fn a_receiver_needs_a_secret() {
    for (secrets, reason) in [
        (None, "\"set WEBHOOK_SECRETS to the endpoint's secret\""),
        (Some("short"), "SecretTooShortError"),
    ] {
        let mut command = Command::new(example_path("receiver"));
        command.arg("127.0.0.1:0").env_remove("WEBHOOK_SECRETS");
        command.envs(secrets.map(|secrets| ("WEBHOOK_SECRETS", secrets)));
        let output = command.output().unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(1), "{secrets:?}");
        assert_eq!(printed, [String::new(), format!("Error: {reason}\n")]);
    }
}
