//! Hosts and stores at fault: one 500 that says nothing, a log that says why, and a next request that works.

use std::time::Duration;

use forum_api::ApiSettings;
use forum_api::host::{BackendError, BoardError, Overloaded};
use forum_api::store::Stores;
use forum_api::test_util::{Intervention, StoreInterceptor};

use crate::support::server::settings;
use crate::support::*;

const OVERLOADED: Overloaded = Overloaded {
    retry_after: Duration::from_secs(7),
};

const SENTENCE: &str = "Internal error.";

fn reply() -> Ask {
    Ask::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

#[tokio::test]
async fn a_panic_or_failure_of_the_board_is_a_500_that_only_the_log_explains() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let fails = Mood::Refuses(|| BoardError::internal("the disk is full"));
    for (mood, reason) in [
        (Mood::Panics, "the test board panics"),
        (fails, "the disk is full"),
    ] {
        for row in ROWS {
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
    let refuses = || BoardError::invalid("body", "Der Text ist leer.");
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
        Mood::Refuses(|| BoardError::internal(OVERLOADED)),
        Mood::Refuses(|| BoardError::internal(BackendError::new(BoardError::internal(OVERLOADED)))),
    ] {
        for row in ROWS {
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

/// Creates a server, and the same server over stores in which the calls of `store` fail, panic or hang.
fn with_faults(store: &'static str) -> impl Iterator<Item = (Server, Server)> {
    let faults: [fn() -> Intervention; 3] = [
        || Intervention::Fail,
        || Intervention::Panic,
        || Intervention::Hang,
    ];
    faults.into_iter().map(move |fault| {
        let (board, stores) = (FullBoard::new(), Stores::in_memory());
        let settings = ApiSettings {
            request_timeout: Duration::from_millis(20),
            ..settings()
        };
        let interceptor = StoreInterceptor::default();
        interceptor.on_call(move |method, _| match method.starts_with(store) {
            true => fault(),
            false => Intervention::Proceed,
        });
        let faulty = interceptor.stores(&stores);
        let over = |stores| Server::over(settings.clone(), stores, &board, board.clone());
        (over(stores), over(faulty))
    })
}

#[tokio::test]
async fn without_the_store_of_tokens_guests_are_served_and_tokens_get_500() {
    for (well, faulty) in with_faults("tokens.") {
        let alice = well.token("alice").await;
        assert_eq!(faulty.outcome(Ask::get("/forums")).await, (200, None));
        let answer = faulty.send(&Ask::get("/forums").bearer(&alice)).await;
        assert_eq!(outcome(&answer), INTERNAL_ERROR);
        assert!(answer.header("x-ratelimit-limit").is_some());
        assert_eq!(faulty.board.calls().len(), 1);
    }
}

#[tokio::test]
async fn without_the_store_of_rate_limits_every_request_is_a_500() {
    for (_, faulty) in with_faults("rate_limits.") {
        for path in ["/forums", "/nothing", "/me", "/openapi.json"] {
            let answer = faulty.send(&Ask::get(path)).await;
            assert_eq!(outcome(&answer), INTERNAL_ERROR, "{path}");
            assert_eq!(number(&answer, "x-ratelimit-limit"), 1_000_000);
        }
        assert!(faulty.board.calls().is_empty());
    }
}

#[tokio::test]
async fn without_the_store_of_idempotency_keys_no_command_with_a_key_is_run() {
    for (well, faulty) in with_faults("idempotency.") {
        let ask = reply().bearer(&well.token("alice").await);
        let keyed = faulty.outcome(ask.clone().key("k")).await;
        assert_eq!(keyed, INTERNAL_ERROR);
        assert!(faulty.board.calls().is_empty());
        assert_eq!(faulty.outcome(ask).await, (201, None));
    }
}
