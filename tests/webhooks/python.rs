//! Signatures as an implementation that is not ours computes them: Python's `hmac`, over the raw bytes.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use forum_api::runtime::SeededEntropy;
use forum_api::webhook::{Outgoing, Secret};

use crate::sample::signed;

/// Reads lines of key, time and body in hexadecimal digits, and writes the signature of each.
const SCRIPT: &str = r#"
import hmac, sys
for line in sys.stdin:
    key, time, body = map(bytes.fromhex, line.split("-"))
    print("sha256=" + hmac.new(key, time + b"." + body, "sha256").hexdigest())
"#;

/// What Python writes when it reads `input`; `None` where there is no Python.
fn python(input: &str) -> Option<String> {
    let started = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        started => started.unwrap(),
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

fn header<'a>(delivery: &'a Outgoing, name: &str) -> &'a str {
    delivery.headers[name].to_str().unwrap()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn python_computes_the_same_signatures() {
    let entropy = SeededEntropy::new(11);
    let mut secrets: Vec<_> = (0..3).map(|_| Secret::mint(&entropy).unwrap()).collect();
    // Shorter than a block of the hash, as long as one, and longer; of more than ASCII.
    let brought = [
        "1234567890123456",
        &"k".repeat(64),
        &"k".repeat(65),
        &"ключ🔑".repeat(30),
    ];
    secrets.extend(brought.map(|text| Secret::new(text).unwrap()));
    let bodies = [
        "",
        "{}",
        r#"{"body":"Grüße, 世界 🌍\n\u0000"}"#,
        &"x".repeat(256 * 1024),
    ];
    let pairs = secrets
        .iter()
        .flat_map(|secret| bodies.iter().map(move |body| (secret, body)));
    let deliveries: Vec<_> = pairs
        .map(|(secret, body)| (secret, signed(secret, body)))
        .collect();
    let lines = deliveries.iter().map(|(secret, delivery)| {
        let time = header(delivery, "x-forum-timestamp").as_bytes();
        let parts = [secret.reveal().as_bytes(), time, &delivery.body];
        parts.map(hexadecimal).join("-") + "\n"
    });
    let Some(computed) = python(&lines.collect::<String>()) else {
        println!("left out: there is no python3");
        return;
    };
    let ours: Vec<_> = deliveries
        .iter()
        .map(|(_, delivery)| header(delivery, "x-forum-signature"))
        .collect();
    assert_eq!(computed.lines().collect::<Vec<_>>(), ours);
}
