//! Client disconnects, request timeouts and incomplete bodies (`docs/protocol.md`, section 2.6).

use forum_api::store::UsageCounts;
use forum_test_support::body_in_parts::BodyInParts;
use forum_test_support::endless_body::EndlessBody;

use crate::support::server::short_timeout;
use crate::support::*;

fn reply() -> Request {
    Request::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

/// Sends a request, and disconnects while the board executes it.
async fn disconnect_during(server: &Server, request: Request) {
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let mut connection = server.connection().await;
    let response = connection.send_request(request.to_http());
    tokio::select! {
        _ = response => panic!("the command did not wait"),
        () = checkpoint.reached() => {}
    }
    drop(connection);
    server.until_disconnected().await;
    checkpoint.release();
}

#[tokio::test]
async fn requests_with_side_effects_complete_after_a_disconnect() {
    let has_effects = |row: &&Row| row.method != "GET" || row.template.contains("{messageId}");
    for row in ROWS.iter().filter(has_effects) {
        let server = Server::new().listening().await;
        let alice = server.token("alice").await;
        disconnect_during(&server, Request::of(row).bearer(&alice)).await;
        server.board.until_completed(1).await;
    }
}

/// Proves that the server notices the disconnects of the test above.
#[tokio::test]
async fn a_read_is_canceled_by_a_disconnect() {
    let server = Server::new().listening().await;
    disconnect_during(&server, Request::get("/threads/open-1/posts")).await;
    server.board.set_mode(FailureMode::None);
    assert_eq!(server.send(&Request::get("/forums")).await.status, 200);
    let calls = (server.board.calls().len(), server.board.completed());
    assert_eq!(calls, (2, 1));
}

#[tokio::test]
async fn a_request_is_counted_when_its_client_disconnects() {
    let server = Server::new().listening().await;
    let token = server.token("alice").await;
    disconnect_during(&server, Request::get("/forums").bearer(&token)).await;
    server.api.flush_usage().await.unwrap();
    let usage = &server.stores.usage;
    let sums = usage.most_used_tokens(Default::default(), 9).await.unwrap();
    let counts = UsageCounts { requests: 1, units: 1, ..UsageCounts::default() };
    assert_eq!(sums, [(Some(lookup(&token)), counts)]);
}

#[tokio::test]
async fn a_retry_after_a_disconnect_gets_the_first_response() {
    let server = Server::new().listening().await;
    let request = reply().key("k").bearer(&server.token("alice").await);
    disconnect_during(&server, request.clone()).await;
    let response = within_ten_seconds(completed(&server, &request)).await;
    let replayed = response.header("idempotency-replayed");
    assert_eq!((response.status, replayed), (201, Some("true")));
    assert_eq!(server.board.calls().len(), 1);
}

/// Repeats a request until the first one is completed.
async fn completed(server: &Server, request: &Request) -> TestResponse {
    loop {
        let response = server.send(request).await;
        if response.header("retry-after") != Some("1") {
            return response;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_board_is_a_500() {
    let server = Server::with(short_timeout());
    let alice = server.token("alice").await;
    for row in ROWS {
        server.board.set_mode(FailureMode::Hang);
        let response = server.send(&Request::of(row).bearer(&alice)).await;
        assert_eq!(outcome(&response), INTERNAL_ERROR, "{row:?}");
        assert!(log::of(&response).contains(" error=the request timed out\n"), "{row:?}");
    }
    server.board.set_mode(FailureMode::None);
    assert_eq!(server.send(&reply().bearer(&alice)).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_write_completes_after_its_timeout_and_keeps_its_response() {
    let server = Server::with(short_timeout());
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let request = reply().key("k").bearer(&server.token("alice").await);
    assert_eq!(server.send(&request).await.status, 500);
    let running = server.send(&request).await;
    assert_eq!(outcome(&running), CONFLICT);
    assert_eq!(running.header("retry-after"), Some("1"));
    checkpoint.release();
    server.board.until_completed(1).await;
    let response = within_ten_seconds(completed(&server, &request)).await;
    assert_eq!((response.status, server.board.calls().len()), (201, 1));
}

#[tokio::test(start_paused = true)]
async fn an_endless_body_is_a_400_and_executes_nothing() {
    let server = Server::with(short_timeout());
    let request = reply().bearer(&server.token("alice").await);
    let body = EndlessBody::default();
    let response = server.call(request.to_http().map(|_| body.clone())).await;
    assert_eq!(outcome(&response), BAD_REQUEST);
    let expected = "body: expected a complete body before the request timeout";
    assert_eq!(message(&response), expected);
    assert!(body.was_polled() && server.board.calls().is_empty());
}

#[tokio::test]
async fn a_request_that_is_rejected_before_its_body_does_not_wait_for_it() {
    let (server, alice) = Server::with_alice().await;
    let banned = server.token("banned").await;
    let scopeless = server.token_with("alice", &[]).await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, settings().token_budget).await;
    let posts = "/threads/open-1/posts";
    for (request, status) in [
        (Request::post("/nothing", ""), 404),
        (reply(), 401),
        (reply().bearer(&exhausted), 429),
        (reply().bearer(&scopeless), 403),
        (reply().bearer(&banned), 403),
        (Request::post("/threads/no+id/posts", "").bearer(&alice), 404),
        (Request::post(&format!("{posts}?x=1"), "").bearer(&alice), 400),
        (reply().key("").bearer(&alice), 400),
        (Request::new("POST", posts).bearer(&alice), 400),
        (Request::get("/forums"), 200),
        (Request::new("DELETE", &format!("{posts}/open-1-1")).bearer(&alice), 204),
    ] {
        let body = EndlessBody::default();
        let response = server.call(request.to_http().map(|_| body.clone())).await;
        assert_eq!(response.status, status, "{request:?}");
        assert!(!body.was_polled(), "{request:?}");
    }
    server.board.set_offline(true);
    let request = reply().bearer(&alice).to_http();
    let response = server.call(request.map(|_| EndlessBody::default())).await;
    assert_eq!(response.status, 503);
}

#[tokio::test]
async fn a_body_has_at_most_the_limit_of_bytes() {
    let (server, alice) = Server::with_alice().await;
    let of_length = |length: usize| {
        let body = format!(r#"{{"body":"{}"}}"#, "x".repeat(length - 11));
        Request::post("/threads/open-1/posts", &body).bearer(&alice)
    };
    assert_eq!(server.send(&of_length(1 << 20)).await.status, 201);
    let response = server.send(&of_length((1 << 20) + 1)).await;
    assert_eq!(outcome(&response), BAD_REQUEST);
    assert_eq!(message(&response), "body: expected a smaller body");
}

#[tokio::test]
async fn a_body_arrives_in_a_bounded_number_of_parts() {
    let (server, alice) = Server::with_alice().await;
    let fewer_parts =
        "body: expected a body in larger chunks: at most 4,096, and one more for each 256 bytes";
    for (length, part, expected) in [
        (4_096, 1, None),
        (4_200, 1, Some(fewer_parts)),
        (1 << 20, 1, Some(fewer_parts)),
        (1 << 20, 64, Some(fewer_parts)),
        (1 << 20, 256, None),
        ((1 << 20) + 256, 256, Some("body: expected a smaller body")),
    ] {
        let text = format!(r#"{{"body":"{}"}}"#, "x".repeat(length - 11));
        let request = Request::post("/threads/open-1/posts", &text).bearer(&alice).to_http();
        let response = server.call(request.map(|_| BodyInParts::new(&text, part))).await;
        let case = format!("{length} bytes in parts of {part}");
        match expected {
            None => assert_eq!(response.status, 201, "{case}"),
            Some(expected) => {
                assert_eq!(outcome(&response), BAD_REQUEST, "{case}");
                assert_eq!(message(&response), expected, "{case}");
            }
        }
    }
}
