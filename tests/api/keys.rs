//! `Idempotency-Key`: at most once, whatever happens (`docs/protocol.md`, section 9).

use std::time::Duration;

use forum_api::test_util::TestResponse;
use tokio::task::JoinSet;

use crate::support::*;

const RUNNING: &str = "A request with this Idempotency-Key is still in progress.";
const REUSED: &str = "This Idempotency-Key was already used for a different request.";

pub(crate) fn is_unknown(answer: &TestResponse) -> bool {
    let asks = "Check whether it took effect before you retry with a new key.";
    outcome(answer) == CONFLICT && message(answer).ends_with(asks)
}

pub(crate) fn is_replay(answer: &TestResponse) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

pub(crate) fn reply(body: &str) -> Ask {
    Ask::post("/threads/open-1/posts", &format!(r#"{{"body":"{body}"}}"#)).key("k")
}

fn fifty(server: &Server, ask: &Ask) -> JoinSet<TestResponse> {
    let sent = (0..50).map(|_| {
        let (server, ask) = (server.clone(), ask.clone());
        async move { server.send(&ask).await }
    });
    sent.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_concurrent_requests_run_the_command_once() {
    let server = Server::new().listening().await;
    let ask = reply("x").bearer(&server.token("alice").await);
    let answers = fifty(&server, &ask).join_all().await;
    let (mut created, others): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.status == 201);
    assert!(others.iter().all(|answer| message(answer) == RUNNING));
    let first = created.iter().filter(|answer| !is_replay(answer));
    assert_eq!(first.count(), 1);
    created.dedup_by_key(|answer| answer.body.clone());
    assert_eq!(created.len(), 1, "all get the first response");
    assert_eq!(server.board.calls().len(), 1);
}

#[tokio::test]
async fn while_the_first_request_runs_the_others_are_rejected_with_retry_after() {
    let server = Server::new().listening().await;
    let gate = Gate::new();
    server.board.be(Mood::Waits(gate.clone()));
    let ask = reply("x").bearer(&server.token("alice").await);
    let mut answers = fifty(&server, &ask);
    for _ in 0..49 {
        let answer = answers.join_next().await.unwrap().unwrap();
        assert_eq!(outcome(&answer), CONFLICT);
        assert_eq!(
            (&*message(&answer), answer.header("retry-after")),
            (RUNNING, Some("1"))
        );
    }
    server.clock.advance(Duration::from_secs(60));
    assert!(
        is_unknown(&server.send(&ask).await),
        "it counts as interrupted"
    );
    gate.let_one_pass();
    let first = answers.join_next().await.unwrap().unwrap();
    assert_eq!((first.status, is_replay(&first)), (201, false));
    assert_eq!(
        server.send(&ask).await.body,
        first.body,
        "it was not interrupted"
    );
}

#[tokio::test]
async fn a_key_belongs_to_its_token_and_its_request() {
    let server = Server::new();
    let (alice, bob) = (server.token("alice").await, server.token("bob").await);
    let other = server.token("alice").await;
    let elsewhere = Ask::post("/threads/open-2/posts", r#"{"body":"x"}"#).key("k");
    let spaced = Ask::post("/threads/open-1/posts", r#"{"body": "x"}"#).key("k");
    for (ask, token, is_reused) in [
        (reply("x"), &alice, false),
        (reply("y"), &alice, true),
        (spaced, &alice, true),
        (elsewhere.clone(), &alice, true),
        (reply("x"), &other, false),
        (elsewhere, &bob, false),
    ] {
        let answer = server.send(&ask.bearer(token)).await;
        if is_reused {
            assert_eq!(outcome(&answer), CONFLICT);
            assert_eq!(
                (&*message(&answer), answer.header("retry-after")),
                (REUSED, None)
            );
        } else {
            assert_eq!((answer.status, is_replay(&answer)), (201, false));
        }
    }
    assert_eq!(server.board.calls().len(), 3);
}

#[tokio::test]
async fn a_key_is_1_to_64_visible_characters_and_is_read_on_post_only() {
    const EXPECTED: &str = "idempotency-key: expected 1 to 64 visible ASCII characters";
    let server = Server::new();
    let alice = server.token("alice").await;
    let plain = Ask::post("/threads/open-1/posts", r#"{"body":"x"}"#).bearer(&alice);
    let (longest, long) = ("~".repeat(64), "k".repeat(65));
    for (key, is_valid) in [
        ("!", true),
        (&longest, true),
        ("", false),
        (&long, false),
        ("a b", false),
        ("ä", false),
    ] {
        let answer = server.send(&plain.clone().key(key)).await;
        let expected = if is_valid { (201, "") } else { (400, EXPECTED) };
        assert_eq!((answer.status, &*message(&answer)), expected, "{key}");
    }
    assert_eq!(
        server.outcome(plain.key("one").key("one")).await,
        BAD_REQUEST
    );
    for row in ROWS.iter().filter(|row| row.method != "POST") {
        for _ in 0..2 {
            let answer = server.send(&Ask::of(row).key("a b").bearer(&alice)).await;
            assert_eq!(
                (answer.status, is_replay(&answer)),
                (row.success, false),
                "{row:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_expires_after_24_hours() {
    let server = Server::new();
    let ask = reply("x").bearer(&server.token("alice").await);
    for (advance, replays) in [(0, false), (86_399_999, true), (1, false), (0, true)] {
        server.clock.advance(Duration::from_millis(advance));
        assert_eq!(is_replay(&server.send(&ask).await), replays, "{advance}");
    }
}

#[tokio::test]
async fn a_replay_needs_the_access_of_the_request() {
    let server = Server::new();
    let ask = reply("x").bearer(&server.token("alice").await);
    server.send(&ask).await;
    server.board.shows("alice", &["members"]);
    assert_eq!(server.outcome(ask.clone()).await, PATH_NOT_FOUND);
    server.board.ban("alice");
    assert_eq!(server.outcome(ask).await, OWNER_UNAVAILABLE);
}
