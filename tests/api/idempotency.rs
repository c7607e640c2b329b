//! `Idempotency-Key`: executes a request at most once (`docs/protocol.md`, section 9).

use tokio::task::JoinSet;

use crate::support::*;

const RUNNING: &str = "A request with this Idempotency-Key is still in progress.";
const REUSED: &str = "This Idempotency-Key was already used for a different request.";

pub(crate) fn is_unknown(response: &TestResponse) -> bool {
    let requests = "Check whether it took effect before you retry with a new key.";
    outcome(response) == CONFLICT && message(response).ends_with(requests)
}

pub(crate) fn is_replay(response: &TestResponse) -> bool {
    response.header("idempotency-replayed") == Some("true")
}

pub(crate) fn reply(body: &str) -> Request {
    Request::post("/threads/open-1/posts", &format!(r#"{{"body":"{body}"}}"#)).key("k")
}

fn fifty(server: &Server, request: &Request) -> JoinSet<TestResponse> {
    let sent = (0..50).map(|_| {
        let server = server.clone();
        let request = request.clone();
        async move { server.send(&request).await }
    });
    sent.collect()
}

#[tokio::test]
async fn repeats_of_a_running_request_are_rejected_with_retry_after() {
    let server = Server::new().listening().await;
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let request = reply("x").bearer(&server.token("alice").await);
    let mut responses = fifty(&server, &request);
    for _ in 0..49 {
        let response = responses.join_next().await.unwrap().unwrap();
        assert_eq!(outcome(&response), CONFLICT);
        assert_eq!((&*message(&response), response.header("retry-after")), (RUNNING, Some("1")));
    }
    server.clock.advance(Duration::from_secs(60));
    assert!(is_unknown(&server.send(&request).await), "the first request counts as interrupted");
    checkpoint.release();
    let first = responses.join_next().await.unwrap().unwrap();
    assert_eq!((first.status, is_replay(&first)), (201, false));
    assert_eq!(server.send(&request).await.body, first.body, "the first request completed");
}

#[tokio::test]
async fn a_key_belongs_to_its_token_and_its_request() {
    let (server, alice) = Server::with_alice().await;
    let bob = server.token("bob").await;
    let other = server.token("alice").await;
    let elsewhere = Request::post("/threads/open-2/posts", r#"{"body":"x"}"#).key("k");
    let spaced = Request::post("/threads/open-1/posts", r#"{"body": "x"}"#).key("k");
    for (request, token, is_reused) in [
        (reply("x"), &alice, false),
        (reply("y"), &alice, true),
        (spaced, &alice, true),
        (elsewhere.clone(), &alice, true),
        (reply("x"), &other, false),
        (elsewhere, &bob, false),
    ] {
        let response = server.send(&request.bearer(token)).await;
        if is_reused {
            assert_eq!(outcome(&response), CONFLICT);
            let retry = response.header("retry-after");
            assert_eq!((&*message(&response), retry), (REUSED, None));
        } else {
            assert_eq!((response.status, is_replay(&response)), (201, false));
        }
    }
    assert_eq!(server.board.calls().len(), 3);
}

#[tokio::test]
async fn a_key_is_1_to_64_visible_characters_and_is_read_on_post_only() {
    const EXPECTED: &str = "idempotency-key: expected 1 to 64 visible ASCII characters";
    let (server, alice) = Server::with_alice().await;
    let plain = Request::post("/threads/open-1/posts", r#"{"body":"x"}"#).bearer(&alice);
    let longest = "~".repeat(64);
    let long = "k".repeat(65);
    for (key, is_valid) in
        [("!", true), (&longest, true), ("", false), (&long, false), ("a b", false), ("ä", false)]
    {
        let response = server.send(&plain.clone().key(key)).await;
        let expected = if is_valid { (201, "") } else { (400, EXPECTED) };
        assert_eq!((response.status, &*message(&response)), expected, "{key}");
    }
    let repeated = server.send(&plain.key("one").key("one")).await;
    assert_eq!(message(&repeated), "idempotency-key: given more than once");
    for row in ROWS.iter().filter(|row| row.method != "POST") {
        for _ in 0..2 {
            let request = Request::of(row).key("a b").bearer(&alice);
            let response = server.send(&request).await;
            let sent = (response.status, is_replay(&response));
            assert_eq!(sent, (row.success, false), "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_replay_needs_the_access_of_the_request() {
    let server = Server::new();
    let request = reply("x").bearer(&server.token("alice").await);
    server.send(&request).await;
    server.board.show("alice", &["members"]);
    server.expect(request.clone(), PATH_NOT_FOUND).await;
    server.board.ban("alice");
    server.expect(request, OWNER_UNAVAILABLE).await;
}
