//! Clients that hang up, boards that hang, bodies that never end (`docs/protocol.md`, section 2.6).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use forum_api::ApiSettings;
use forum_api::test_util::TestResponse;
use http_body::{Body, Frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::server::settings;
use crate::support::*;

fn reply() -> Ask {
    Ask::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

/// Answers by the time the deadline has rung, for sure.
async fn impatient() -> Server {
    let deadline = Duration::from_millis(20);
    Server::with(ApiSettings {
        request_timeout: deadline,
        ..settings()
    })
    .listening()
    .await
}

/// Sends a request, and hangs up while the board is in the middle of it.
async fn hang_up_in(server: &Server, ask: Ask) {
    let gate = Gate::new();
    server.board.be(Mood::Waits(gate.clone()));
    let mut connection = server.connection().await;
    let answer = connection.send_request(ask.request());
    tokio::select! {
        _ = answer => panic!("the gate is shut"),
        () = gate.reached() => {}
    }
    drop(connection);
    server.until_all_hung_up().await;
    gate.let_one_pass();
}

#[tokio::test]
async fn a_write_and_the_opening_of_a_message_run_to_their_end_though_the_client_hung_up() {
    for row in ROWS
        .iter()
        .filter(|row| row.method != "GET" || row.template.contains("{messageId}"))
    {
        let server = Server::new().listening().await;
        let alice = server.token("alice").await;
        hang_up_in(&server, Ask::of(row).bearer(&alice)).await;
        server.board.until_ended(1).await;
    }
}

/// So the hang-ups above are ones that the server noticed.
#[tokio::test]
async fn a_read_ends_with_its_client() {
    let server = Server::new().listening().await;
    hang_up_in(&server, Ask::get("/threads/open-1/posts")).await;
    server.board.be(Mood::Well);
    assert_eq!(server.send(&Ask::get("/forums")).await.status, 200);
    assert_eq!((server.board.calls().len(), server.board.ended()), (2, 1));
}

#[tokio::test]
async fn who_hung_up_gets_the_first_answer_when_asking_again() {
    let server = Server::new().listening().await;
    let ask = reply().key("k").bearer(&server.token("alice").await);
    hang_up_in(&server, ask.clone()).await;
    let answer = soon(settled(&server, &ask)).await;
    assert_eq!(
        (answer.status, answer.header("idempotency-replayed")),
        (201, Some("true"))
    );
    assert_eq!(server.board.calls().len(), 1);
}

/// The answer when the first request is not running any more.
async fn settled(server: &Server, ask: &Ask) -> TestResponse {
    loop {
        let answer = server.send(ask).await;
        if answer.header("retry-after") != Some("1") {
            return answer;
        }
    }
}

#[tokio::test]
async fn a_board_that_hangs_costs_one_500_and_nothing_else() {
    let server = impatient().await;
    let alice = server.token("alice").await;
    for row in ROWS {
        server.board.be(Mood::Hangs);
        let answer = server.send(&Ask::of(row).bearer(&alice)).await;
        assert_eq!(outcome(&answer), INTERNAL_ERROR, "{row:?}");
    }
    server.board.be(Mood::Well);
    assert_eq!(server.send(&reply().bearer(&alice)).await.status, 201);
}

#[tokio::test]
async fn a_write_that_was_answered_too_late_goes_on_and_keeps_its_answer() {
    let server = impatient().await;
    let gate = Gate::new();
    server.board.be(Mood::Waits(gate.clone()));
    let ask = reply().key("k").bearer(&server.token("alice").await);
    assert_eq!(server.send(&ask).await.status, 500);
    let running = server.send(&ask).await;
    assert_eq!(outcome(&running), CONFLICT);
    assert_eq!(running.header("retry-after"), Some("1"));
    gate.let_one_pass();
    server.board.until_ended(1).await;
    let answer = soon(settled(&server, &ask)).await;
    assert_eq!((answer.status, server.board.calls().len()), (201, 1));
}

/// A body of which nothing ever comes; it tells whether anybody looked.
#[derive(Clone, Default)]
struct Endless(Arc<AtomicBool>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.store(true, Ordering::SeqCst);
        Poll::Pending
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_the_clients_fault_and_runs_nothing() {
    let server = impatient().await;
    let ask = reply().bearer(&server.token("alice").await);
    let body = Endless::default();
    let answer = server.call(ask.request().map(|_| body.clone())).await;
    assert_eq!(outcome(&answer), BAD_REQUEST);
    assert_eq!(
        message(&answer),
        "body: expected a complete body before the request timeout"
    );
    assert!(body.0.load(Ordering::SeqCst) && server.board.calls().is_empty());
}

#[tokio::test]
async fn a_slow_body_over_a_socket() {
    let server = impatient().await;
    let alice = server.token("alice").await;
    let mut socket = server.socket().await;
    let head = format!(
        "POST /api/v1/threads/open-1/posts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {alice}\r\n\
         content-type: application/json\r\ncontent-length: 10\r\n\r\n{{"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    socket.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 400");
    assert_eq!(server.send(&reply().bearer(&alice)).await.status, 201);
}

#[tokio::test]
async fn a_request_that_is_rejected_before_its_body_does_not_wait_for_it() {
    let server = Server::new();
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let (scopeless, spent) = (
        server.token_with("alice", &[]).await,
        server.token("alice").await,
    );
    server.spend(&spent, settings().token_budget).await;
    let posts = "/threads/open-1/posts";
    for (ask, status) in [
        (Ask::post("/nothing", ""), 404),
        (reply(), 401),
        (reply().bearer(&spent), 429),
        (reply().bearer(&scopeless), 403),
        (reply().bearer(&banned), 403),
        (Ask::post("/threads/no+id/posts", "").bearer(&alice), 404),
        (Ask::post(&format!("{posts}?x=1"), "").bearer(&alice), 400),
        (reply().key("").bearer(&alice), 400),
        (Ask::new("POST", posts).bearer(&alice), 400),
        (Ask::get("/forums"), 200),
        (
            Ask::new("DELETE", &format!("{posts}/open-1-1")).bearer(&alice),
            204,
        ),
    ] {
        let body = Endless::default();
        let answer = server.call(ask.request().map(|_| body.clone())).await;
        assert_eq!(answer.status, status, "{ask:?}");
        assert!(!body.0.load(Ordering::SeqCst), "{ask:?}");
    }
    server.board.go_offline(true);
    let request = reply().bearer(&alice).request();
    let answer = server.call(request.map(|_| Endless::default())).await;
    assert_eq!(answer.status, 503);
}

#[tokio::test]
async fn a_body_has_at_most_the_limit_of_bytes() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let of_length = |length: usize| {
        let body = format!(r#"{{"body":"{}"}}"#, "x".repeat(length - 11));
        Ask::post("/threads/open-1/posts", &body).bearer(&alice)
    };
    assert_eq!(server.send(&of_length(1 << 20)).await.status, 201);
    let answer = server.send(&of_length((1 << 20) + 1)).await;
    assert_eq!(outcome(&answer), BAD_REQUEST);
    assert_eq!(message(&answer), "body: expected a smaller body");
}
