//! Hosts and stores at fault: one 500 that says nothing, a log that says why, and a next request that works.

use std::sync::Arc;
use std::time::Duration;

use forum_api::Settings;
use forum_api::host::{Fault, Overloaded, Refusal};
use forum_api::store::Stores;

use crate::support::server::settings;
use crate::support::stores::Broken::{Fails, Hangs, Panics};
use crate::support::*;

const OVERLOADED: Overloaded = Overloaded {
    retry_after: Duration::from_secs(7),
};

const SENTENCE: &str = "Something went wrong on the board's side.";

fn reply() -> Ask {
    Ask::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

#[tokio::test]
async fn a_panic_or_failure_of_the_board_is_a_500_that_only_the_log_explains() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let fails = Mood::Refuses(|| Refusal::failed("the disk is full"));
    for (mood, reason) in [
        (Mood::Panics, "the test board panics"),
        (fails, "the disk is full"),
    ] {
        for row in &ROWS {
            server.board.be(mood.clone());
            let answer = server.send(&Ask::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&answer), INTERNAL_ERROR, "{row:?}");
            assert_eq!(message(&answer), SENTENCE);
            let log = log::of(&answer);
            assert!(log.contains("ERROR") && log.contains(reason), "{log}");
            server.board.be(Mood::Well);
            let next = server.outcome_for(&alice, Ask::of(row)).await;
            assert_eq!(next, (row.success, None), "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_validation_message_names_the_field_in_any_language() {
    let server = Server::new();
    let refuses = || Refusal::invalid("body", "Der Text ist leer.");
    server.board.be(Mood::Refuses(refuses));
    let answer = server
        .send(&reply().bearer(&server.token("alice").await))
        .await;
    assert_eq!(outcome(&answer), (422, Some("VALIDATION")));
    assert_eq!(message(&answer), "body: Der Text ist leer.");
}

#[tokio::test]
async fn an_overloaded_backend_is_a_503_that_can_be_repeated() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for mood in [
        Mood::Refuses(|| Refusal::failed(OVERLOADED)),
        Mood::Refuses(|| Refusal::failed(Fault::new(Refusal::failed(OVERLOADED)))),
    ] {
        for row in &ROWS {
            server.board.be(mood.clone());
            let answer = server.send(&Ask::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&answer), (503, Some("internal_error")), "{row:?}");
            assert_eq!(answer.header("retry-after"), Some("7"));
            assert!(log::of(&answer).contains("backend overloaded"));
        }
    }
    let ask = reply().bearer(&alice).key("overloaded");
    assert_eq!(server.send(&ask).await.status, 503);
    server.board.be(Mood::Well);
    let again = server.send(&ask).await;
    assert_eq!(
        (again.status, again.header("idempotency-replayed")),
        (201, None)
    );
}

/// A server whose `breaking` stores are broken.
fn with(breaking: impl FnOnce(&mut Stores)) -> (Server, Server) {
    let (board, mut stores) = (FullBoard::new(), Stores::in_memory());
    let deadline = Duration::from_millis(20);
    let settings = Settings {
        deadline,
        ..settings()
    };
    let well = Server::over(settings.clone(), stores.clone(), &board, board.clone());
    breaking(&mut stores);
    (well, Server::over(settings, stores, &board, board.clone()))
}

#[tokio::test]
async fn without_the_store_of_tokens_guests_are_served_and_tokens_get_500() {
    for how in [Fails, Panics, Hangs] {
        let (well, broken) = with(|stores| stores.tokens = Arc::new(how));
        let alice = well.token("alice").await;
        assert_eq!(broken.send(&Ask::get("/forums")).await.status, 200);
        let answer = broken.send(&Ask::get("/forums").bearer(&alice)).await;
        assert_eq!(outcome(&answer), INTERNAL_ERROR, "{how:?}");
        assert!(answer.header("x-ratelimit-limit").is_some());
        assert!(broken.board.calls().len() == 1);
    }
}

#[tokio::test]
async fn a_store_of_budgets_at_fault_costs_one_500() {
    for how in [Fails, Panics, Hangs] {
        let (_, broken) = with(|stores| stores.budgets = Arc::new(how));
        for path in ["/forums", "/nothing", "/me", "/openapi.json"] {
            let answer = broken.send(&Ask::get(path)).await;
            assert_eq!(outcome(&answer), INTERNAL_ERROR, "{how:?} {path}");
            assert_eq!(number(&answer, "x-ratelimit-limit"), 1_000_000);
        }
        assert!(broken.board.calls().is_empty());
    }
}

#[tokio::test]
async fn without_the_store_of_keys_nothing_runs_that_must_run_once() {
    for how in [Fails, Panics, Hangs] {
        let (well, broken) = with(|stores| stores.idempotency = Arc::new(how));
        let ask = reply().bearer(&well.token("alice").await);
        let keyed = broken.send(&ask.clone().key("k")).await;
        assert_eq!(outcome(&keyed), INTERNAL_ERROR, "{how:?}");
        assert!(broken.board.calls().is_empty());
        assert_eq!(broken.send(&ask).await.status, 201);
    }
}
