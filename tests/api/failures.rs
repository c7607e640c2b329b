//! Failures of hosts and stores. The response is a 500, or a 503 if nothing was run, without details. The log has the cause,
//! and the next request succeeds.

use std::io;

use forum_api::host::{Access, BackendError, RequestInfo, VisibleForums};
use forum_api::model::{List, Member, Page, Thread, ThreadFilter, UserRef};
use thiserror::Error;
use tokio::time::sleep;

use crate::support::server::short_timeout;
use crate::support::*;

const MESSAGE: &str = "Internal error.";

fn reply() -> Request {
    Request::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

/// An error whose own text does not name the cause.
#[derive(Debug, Error)]
#[error("failed to load the thread")]
struct ContextError(#[source] io::Error);

fn failed_query() -> BoardError {
    BoardError::internal(ContextError(io::Error::other("the index is corrupt")))
}

#[tokio::test]
async fn a_panic_or_failure_of_the_board_is_a_500_that_only_the_log_explains() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let fails = FailureMode::Error(|| BoardError::internal("the disk is full"));
    for (mode, reason) in [
        (FailureMode::Panic, "the host's code panicked: the test board panics"),
        (fails, "the disk is full"),
        (FailureMode::Error(failed_query), "failed to load the thread: the index is corrupt"),
    ] {
        for row in ROWS {
            server.board.set_mode(mode.clone());
            let response = server.send(&Request::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&response), INTERNAL_ERROR, "{row:?}");
            assert_eq!(message(&response), MESSAGE);
            let log = log::of(&response);
            assert!(log.contains("ERROR") && log.contains(reason), "{log}");
            server.board.set_mode(FailureMode::None);
            let request = Request::of(row).bearer(&alice);
            server.expect(request, (row.success, None)).await;
        }
    }
}

/// A board returns `PathNotFound` if it applies `?` to the conversion of an id.
#[tokio::test]
async fn path_not_found_is_about_the_body_if_the_path_has_no_variable() {
    let (server, alice) = Server::with_alice().await;
    server.board.fail_with(|| BoardError::PathNotFound);
    for row in ROWS {
        let expected = match (row.method, row.template) {
            ("POST", "/messages" | "/subscriptions") => NOT_FOUND,
            _ => PATH_NOT_FOUND,
        };
        let request = Request::of(row).bearer(&alice);
        server.expect(request, expected).await;
    }
}

#[tokio::test]
async fn a_validation_message_names_the_field_in_any_language() {
    let server = Server::new();
    let empty = || BoardError::validation("body", "Der Text ist leer.");
    server.board.fail_with(empty);
    let request = reply().bearer(&server.token("alice").await);
    let response = server.send(&request).await;
    assert_eq!(outcome(&response), (422, Some("VALIDATION")));
    assert_eq!(message(&response), "body: Der Text ist leer.");
}

#[tokio::test]
async fn an_overloaded_backend_is_a_503_that_can_be_repeated() {
    let (server, alice) = Server::with_alice().await;
    for mode in [
        FailureMode::Error(|| BoardError::internal(OVERLOADED)),
        FailureMode::Error(|| {
            BoardError::internal(BackendError::new(BoardError::internal(OVERLOADED)))
        }),
    ] {
        for row in ROWS {
            server.board.set_mode(mode.clone());
            let response = server.send(&Request::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&response), NOT_RUN, "{row:?}");
            assert_eq!(response.header("retry-after"), Some("7"));
            assert!(log::of(&response).contains("backend overloaded"));
        }
    }
    let request = reply().bearer(&alice).key("overloaded");
    assert_eq!(server.send(&request).await.status, 503);
    server.board.set_mode(FailureMode::None);
    let again = server.send(&request).await;
    let replayed = again.header("idempotency-replayed");
    assert_eq!((again.status, replayed), (201, None));
}

#[tokio::test(start_paused = true)]
async fn a_key_is_released_when_its_store_responds_again() {
    static FAILURES: AtomicUsize = AtomicUsize::new(3);
    let fail_thrice = || {
        let left =
            FAILURES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map_or(Intervention::Proceed, |_| Intervention::Fail)
    };
    let settings = ApiSettings::default();
    let (sound, server) = Server::with_failing_store(settings, "idempotency.complete", fail_thrice);
    let request = reply().bearer(&sound.token("alice").await).key("k");
    server.board.fail_with(|| BoardError::internal(OVERLOADED));
    assert_eq!(server.send(&request).await.status, 503);
    server.board.set_mode(FailureMode::None);
    assert_eq!(server.send(&request).await.status, 409);
    sleep(Duration::from_secs(10)).await;
    let again = server.send(&request).await;
    let replayed = again.header("idempotency-replayed");
    assert_eq!((again.status, replayed), (201, None));
}

/// After the first attempt, 300 repeats at intervals of a second.
#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_key_is_recorded_again_for_five_minutes() {
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    let fail = || {
        ATTEMPTS.fetch_add(1, Ordering::Relaxed);
        Intervention::Fail
    };
    let (sound, failing) = Server::with_failing_store(settings(), "idempotency.complete", fail);
    let request = reply().bearer(&sound.token("alice").await).key("k");
    let response = failing.expect(request, (201, None)).await;
    for (millis, attempts) in [(500, 1), (1_000, 2), (298_000, 300), (1_000, 301), (9_000, 301)] {
        sleep(Duration::from_millis(millis)).await;
        assert_eq!(ATTEMPTS.load(Ordering::Relaxed), attempts);
    }
    let id = response.header("x-request-id").unwrap();
    let lines = log::of(&response);
    let errors: Vec<_> = lines.lines().filter(|line| line.contains("Z ERROR ")).collect();
    let first = format!(
        "failed to record idempotency outcome error=the store is unreachable request_id=\"{id}\""
    );
    let last = format!("idempotency outcome not recorded request_id=\"{id}\"");
    assert_eq!(errors.len(), 2, "{lines}");
    assert!(errors[0].ends_with(&first) && errors[1].ends_with(&last), "{lines}");
}

#[tokio::test]
async fn a_use_of_a_token_that_cannot_be_recorded_is_only_logged() {
    let fail = || Intervention::Fail;
    let (sound, failing) = Server::with_failing_store(settings(), "tokens.record_use", fail);
    let alice = sound.token("alice").await;
    let response = failing.expect(Request::get("/me").bearer(&alice), (200, None)).await;
    let lines = log::of(&response);
    let warning = lines.lines().find(|line| line.contains(" WARN ")).unwrap();
    let token = lookup(&alice);
    let end = format!("failed to record token use token={token} error=the store is unreachable");
    assert!(warning.ends_with(&end), "{warning}");
}

type MakeError = fn() -> BoardError;

/// A board with the default of `exists`, whose reads fail.
struct FailingReads(MakeError);

#[async_trait]
impl Board for FailingReads {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::PathNotFound)
    }

    async fn list_threads(
        &self,
        _: &Caller,
        _: ForumId,
        _: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        Err((self.0)())
    }

    async fn get_member(&self, _: &Caller, _: UserRef) -> BoardResult<Member> {
        Err((self.0)())
    }
}

#[tokio::test]
async fn a_resource_exists_unless_its_read_fails() {
    let request = RequestInfo::background(fixtures::time());
    let caller = Caller::guest(Access::new(VisibleForums::all()), request);
    let forum = ForumId::parse("open").unwrap();
    let member = UserRef::parse("bob").unwrap();
    let cases: [(MakeError, Option<bool>); 3] = [
        (|| BoardError::PathNotFound, Some(false)),
        (|| BoardError::NotImplemented, Some(true)),
        (|| BoardError::internal("the disk is full"), None),
    ];
    for resource in [ResourceRef::Forum(&forum), ResourceRef::Member(&member)] {
        for (error, expected) in cases {
            let found = FailingReads(error).exists(&caller, resource).await;
            match expected {
                Some(exists) => assert_eq!(found.unwrap(), exists, "{resource:?}"),
                None => assert!(matches!(found, Err(BoardError::Internal(_))), "{resource:?}"),
            }
        }
    }
}

/// A thread in the path is looked up first. A replay also looks up what the first run created, and, if the path names a
/// member, the member.
#[tokio::test]
async fn a_failing_look_up_before_the_command_is_a_503() {
    let (server, alice) = Server::with_alice().await;
    let rating = Request::post("/members/bob/reputation", r#"{"points":1,"comment":"x"}"#);
    let thread = Request::post("/forums/open/threads", r#"{"title":"Tea","body":"Green?"}"#);
    let [reply, rating, thread] = [reply(), rating, thread].map(|request| request.bearer(&alice));
    let [first, rating] = [reply.clone().key("reply"), rating.key("rating")];
    let thread = thread.key("thread");
    for request in [&first, &rating, &thread] {
        server.expect(request.clone(), (201, None)).await;
    }
    for (method, request) in [
        ("guest_access", Request::get("/forums")),
        ("member_access", Request::get("/forums").bearer(&alice)),
        ("containing_forum", reply.key("other")),
        ("containing_forum", first),
        ("containing_forum", thread),
        ("exists", rating),
    ] {
        server.board.set_mode(FailureMode::LookUp(method));
        assert_outcome(&server.send(&request).await, NOT_RUN);
        server.board.set_mode(FailureMode::None);
        let again = server.send(&request).await;
        assert!(again.status < 300, "{method} {again:?}");
    }
}

/// Creates pairs of servers. In the second server of a pair, the calls of `store` fail, panic or hang. Returns the expected
/// outcome with each pair.
fn with_failing(store: &'static str) -> impl Iterator<Item = (Server, Server, Outcome)> {
    let failures: [(fn() -> Intervention, _); 3] = [
        (|| Intervention::Fail, NOT_RUN),
        (|| Intervention::Panic, INTERNAL_ERROR),
        (|| Intervention::Hang, INTERNAL_ERROR),
    ];
    failures.into_iter().map(move |(failure, expected)| {
        let (sound, failing) = Server::with_failing_store(short_timeout(), store, failure);
        (sound, failing, expected)
    })
}

/// Asserts the status, the code and a log line of an error. Only the 503 has `retry-after` and the reason `not_run`.
#[track_caller]
fn assert_outcome(response: &TestResponse, expected: Outcome) {
    assert_eq!(outcome(response), expected, "{response:?}");
    let is_not_run = expected == NOT_RUN;
    assert_eq!(response.header("retry-after"), is_not_run.then_some("1"));
    assert_eq!(response.header("x-error-reason"), is_not_run.then_some("not_run"));
    assert!(log::of(response).contains("ERROR"));
}

#[tokio::test(start_paused = true)]
async fn without_the_store_of_tokens_guests_are_served_and_tokens_are_not() {
    for (sound, failing, expected) in with_failing("tokens.") {
        let alice = sound.token("alice").await;
        failing.expect(Request::get("/forums"), (200, None)).await;
        let response = failing.send(&Request::get("/forums").bearer(&alice)).await;
        assert_outcome(&response, expected);
        assert!(response.header("x-ratelimit-limit").is_some());
        assert_eq!(failing.board.calls().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_store_of_rate_limits_every_request_fails() {
    for (_, failing, expected) in with_failing("rate_limits.") {
        for path in ["/forums", "/nothing", "/me", "/openapi.json"] {
            let response = failing.send(&Request::get(path)).await;
            assert_outcome(&response, expected);
            assert_eq!(number(&response, "x-ratelimit-limit"), 1_000_000);
        }
        assert!(failing.board.calls().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_store_of_idempotency_keys_requests_with_a_key_are_not_executed() {
    for (sound, failing, expected) in with_failing("idempotency.") {
        let request = reply().bearer(&sound.token("alice").await);
        let keyed = request.clone().key("k");
        assert_outcome(&failing.send(&keyed).await, expected);
        assert!(failing.board.calls().is_empty());
        failing.expect(request, (201, None)).await;
    }
}
