//! `delivery list`, `show`, `retry`, `remove`, and `worker`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::program::Server;
use crate::receiver::Receiver;
use crate::webhooks::{add, reply};

const DONE: fn() -> Value = || json!({ "ok": true });

/// A receiver whose answer can be changed.
fn answering(status: u16) -> (Receiver, Arc<AtomicU16>) {
    let answer = Arc::new(AtomicU16::new(status));
    let now = answer.clone();
    let receiver = Receiver::answering(move |_| Some(now.load(Ordering::SeqCst)));
    (receiver, answer)
}

fn quick() -> Server {
    Server::new(&[
        "--allow-private-webhooks",
        "--webhook-initial-backoff",
        "0.01",
    ])
}

fn delivery(server: &Server, arguments: &[&str]) -> Value {
    let command = [&["delivery"], arguments, &["--json"]].concat();
    server.command(&command).json()
}

/// Waits until a delivery is in this state: the receiver has its answer before the worker notes it.
fn until(server: &Server, id: &str, state: &str) -> Value {
    loop {
        let shown = delivery(server, &["show", id]);
        if shown["state"] == state {
            return shown;
        }
    }
}

#[test]
fn six_failures_are_dead_until_the_operator_retries() {
    let (server, (receiver, answer)) = (quick(), answering(503));
    let endpoint = add(&server, &receiver, &[]);
    reply(&server, &server.token("alice"), "Nobody listens.");
    let attempts: Vec<_> = (0..6).map(|_| receiver.next()).collect();
    let id = attempts[0].delivery();
    for attempt in &attempts {
        assert_eq!(
            (attempt.delivery(), &attempt.body),
            (id.clone(), &attempts[0].body)
        );
    }
    let dead = until(&server, &id, "dead");
    assert_eq!(dead["endpointId"], endpoint["id"]);
    assert_eq!(
        (&dead["topic"], &dead["attempts"], &dead["nextAttemptAt"]),
        (&json!("post.created"), &json!(6), &Value::Null)
    );
    let log = dead["log"].as_array().unwrap();
    assert_eq!(log.len(), 6);
    let names: Vec<_> = log[5].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["answer", "at", "attempt", "durationMs", "error", "status"]
    );
    assert_eq!(
        (&log[5]["attempt"], &log[5]["status"]),
        (&json!(6), &json!(503))
    );
    for _ in 0..2 {
        answer.store(410, Ordering::SeqCst);
        assert_eq!(delivery(&server, &["retry", &id]), DONE());
        assert_eq!(receiver.next().delivery(), id);
        let gone = until(&server, &id, "gone");
        assert_eq!(gone["attempts"], 1);
    }
    answer.store(200, Ordering::SeqCst);
    assert_eq!(delivery(&server, &["retry", &id]), DONE());
    assert_eq!(receiver.next().delivery(), id);
    until(&server, &id, "delivered");
    assert_eq!(delivery(&server, &["retry", &id]), DONE());
    assert_eq!(receiver.next().delivery(), id);
    until(&server, &id, "delivered");
    server.command(&["webhook", "disable", endpoint["id"].as_str().unwrap()]);
    assert_eq!(delivery(&server, &["retry", &id]), DONE());
    let refused = server.command(&["delivery", "retry", &id]);
    assert!(refused.refusal().contains("queued"));
}

#[test]
fn all_dead_ones_of_an_endpoint_are_retried_at_once() {
    let (server, (receiver, answer)) = (quick(), answering(500));
    let endpoint = add(&server, &receiver, &[]);
    let id = endpoint["id"].as_str().unwrap();
    for _ in 0..3 {
        server.command(&["webhook", "ping", id]);
    }
    for _ in 0..18 {
        receiver.next();
    }
    let listed = |state: &str| delivery(&server, &["list", "--state", state, "--endpoint", id]);
    while listed("dead").as_array().unwrap().len() < 3 {}
    let one = &listed("dead")[0];
    assert_eq!(one.get("log"), None);
    answer.store(204, Ordering::SeqCst);
    let retry = ["delivery", "retry", "--dead", "--endpoint", id, "--json"];
    assert_eq!(server.command(&retry).json(), DONE());
    for _ in 0..3 {
        receiver.next();
    }
    while listed("delivered").as_array().unwrap().len() < 3 {}
    assert_eq!(listed("dead"), json!([]));
}

#[test]
fn a_delivery_of_any_state_is_removed() {
    let (server, (receiver, _)) = (quick(), answering(204));
    let endpoint = add(&server, &receiver, &[]);
    server.command(&["webhook", "ping", endpoint["id"].as_str().unwrap()]);
    let id = receiver.next().delivery();
    until(&server, &id, "delivered");
    assert_eq!(delivery(&server, &["remove", &id]), DONE());
    assert_eq!(delivery(&server, &["list"]), json!([]));
    for action in ["show", "retry", "remove"] {
        let refused = server.command(&["delivery", action, &id]);
        assert!(refused.refusal().contains("no delivery"), "{refused:?}");
        assert_eq!(
            server.command(&["delivery", action, "no id at all"]).status,
            2
        );
    }
}

#[test]
fn without_a_worker_deliveries_wait_for_one_beside() {
    let server = Server::new(&["--no-worker"]);
    let receiver = Receiver::new();
    add(&server, &receiver, &[]);
    reply(&server, &server.token("alice"), "Who brings this?");
    let waiting = delivery(&server, &["list"]);
    assert_eq!(waiting, json!([]), "nothing fans events out");
    let worker = server.beside_it(&["worker", "--allow-private-webhooks", "--json"]);
    assert_eq!(receiver.next().header("x-forum-event"), "post.created");
    let ended = worker.stop();
    assert_eq!(ended.json(), DONE());
}

#[test]
fn a_hanging_receiver_fails_after_the_time_out() {
    let server = Server::new(&["--allow-private-webhooks", "--webhook-timeout", "0.2"]);
    let receiver = Receiver::answering(|_| None);
    let endpoint = add(&server, &receiver, &[]);
    let to = endpoint["id"].as_str().unwrap();
    let pinged = server.command(&["webhook", "ping", to]).out;
    let id = receiver.next().delivery();
    assert_eq!(pinged.trim_end(), id);
    let retrying = until(&server, &id, "retrying");
    assert_eq!(retrying["attempts"], 1);
    let (list, next) = (
        server.command(&["delivery", "list"]).out,
        &retrying["nextAttemptAt"],
    );
    for told in [&id, to, "1 attempt,", next.as_str().unwrap()] {
        assert!(list.contains(told), "{list}");
    }
    let attempt = &retrying["log"][0];
    assert_eq!(attempt["status"], Value::Null);
    assert!(attempt["error"].is_string(), "{attempt}");
    assert!(attempt["durationMs"].as_u64().unwrap() >= 200);
}

#[test]
fn no_receiver_keeps_a_server_from_its_end_for_longer_than_ten_seconds() {
    let server = Server::new(&["--allow-private-webhooks", "--webhook-timeout", "60"]);
    let receiver = Receiver::answering(|_| None);
    let endpoint = add(&server, &receiver, &[]);
    server.command(&["webhook", "ping", endpoint["id"].as_str().unwrap()]);
    let first = receiver.next();
    let told = SystemClock.now();
    let home = server.stop();
    let took = SystemClock.now().since(told);
    assert!(took < Duration::from_secs(20), "{took:?}");
    let again = Server::with_input(home, &["--allow-private-webhooks"], "");
    // What was cut off is kept until its lease has run out.
    let shown = delivery(&again, &["show", &first.delivery()]);
    assert_eq!(
        (&shown["state"], &shown["log"]),
        (&json!("queued"), &json!([]))
    );
    assert!(shown["nextAttemptAt"].is_string(), "{shown}");
}
