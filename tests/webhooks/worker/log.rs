//! Log lines of the worker.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::model::DeliveryId;
use forum_test_support::thread_log;

use super::attempts::LostKey;
use super::fixture::{HOUR, SECRET, WorkerFixture, seconds, url};
use super::owners::{Batch, OwnerAccess};
use super::transport::Reply::{ConnectError, Hangs, Panics, Status};

/// Runs the worker for an hour on the current thread and returns its log.
fn log(fixture: &WorkerFixture) -> String {
    thread_log::record();
    fixture.start();
    fixture.advance(HOUR);
    thread_log::take()
}

#[test]
fn each_attempt_has_a_span_with_its_result() {
    let fixture = WorkerFixture::with_replies([Status(503), ConnectError, Status(204)]);
    let log = log(&fixture);
    let ends: Vec<_> =
        log.lines().filter(|line| line.contains("delivery attempt completed")).collect();
    assert_eq!(ends.len(), 3, "{log}");
    let (delivery, _) = fixture.only_delivery();
    let ids = format!(
        "delivery={} endpoint={} topic=post.created request_id=\"7f3a\"",
        delivery.id, delivery.endpoint_id
    );
    for (attempt, (end, [of_span, of_event])) in (1..).zip(ends.iter().zip([
        [
            "state=\"retrying\" status=503 elapsed_ms=0",
            "status=503 state=\"retrying\" elapsed_ms=0 reason=\"the endpoint responded with 503\"",
        ],
        [
            "state=\"retrying\" elapsed_ms=0",
            "state=\"retrying\" elapsed_ms=0 reason=\"connection\u{fffd}refused\"",
        ],
        [
            "state=\"delivered\" status=204 elapsed_ms=0",
            "status=204 state=\"delivered\" elapsed_ms=0",
        ],
    ])) {
        let (_, line) = end.split_once("  INFO ").unwrap();
        let expected = format!(
            "delivery{{{ids} attempt={attempt} {of_span}}}: forum_api::worker::attempt: \
             delivery attempt completed {ids} attempt={attempt} {of_event}"
        );
        assert_eq!(line, expected);
    }
}

/// Makes an attempt or an iteration of a loop fail.
type Prepare = fn(&mut WorkerFixture);

/// Preparations, the time after which the log is read, and its warnings and errors in alphabetical order, without those of dead
/// deliveries.
const PROBLEMS: &[(Prepare, Duration, &[&str])] = &[
    (
        |fixture| fixture.fail(|_, _| true),
        Duration::ZERO,
        &[
            "ERROR context: webhook worker iteration failed; retrying poll_loop=\"claim\" error=the store is unreachable consecutive_failures=1",
            "ERROR context: webhook worker iteration failed; retrying poll_loop=\"correction\" error=the store is unreachable consecutive_failures=1",
            "ERROR context: webhook worker iteration failed; retrying poll_loop=\"fan-out\" error=the store is unreachable consecutive_failures=1",
            "ERROR context: webhook worker iteration failed; retrying poll_loop=\"sweep\" error=the store is unreachable consecutive_failures=1",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=1",
            "WARN maintenance::queue_metrics: failed to read queue statistics error=the store is unreachable",
        ],
    ),
    (
        |fixture| fixture.owners.set(1, OwnerAccess::Fails),
        Duration::ZERO,
        &[
            "ERROR attempt: delivery attempt not started; rescheduled error=the board is unreachable",
            "ERROR fan_out: failed to load endpoint owner's access error=the board is unreachable owner=1",
        ],
    ),
    (
        |fixture| fixture.owners.set(1, OwnerAccess::Hangs),
        seconds(15),
        &["ERROR fan_out: timed out loading endpoint owners' access"],
    ),
    (
        |fixture| {
            fixture.add_for_owner(2, "b");
            *fixture.owners.batch.lock().unwrap() = Batch::Fails;
        },
        Duration::ZERO,
        &[
            "WARN context: failed to load endpoint owners' access together error=the board is unreachable",
            "WARN context: failed to load endpoint owners' access together error=the board is unreachable",
        ],
    ),
    (
        |fixture| fixture.secrets = Arc::new(LostKey),
        Duration::ZERO,
        &[
            "WARN attempt: failed to decrypt endpoint secret; delivery rescheduled error=no key wait=30s",
        ],
    ),
    (
        |fixture| fixture.fail(|method, _| method == "deliveries.begin_sending"),
        Duration::ZERO,
        &[
            "ERROR attempt: delivery attempt not started; rescheduled error=the store is unreachable",
        ],
    ),
    (
        |fixture| {
            fixture.fail(|method, _| {
                ["deliveries.begin_sending", "deliveries.release"].contains(&method)
            });
        },
        seconds(15),
        &[
            "ERROR attempt: delivery attempt not started; rescheduled error=the store is unreachable",
            "ERROR attempt: failed to release delivery; waiting for its lease to expire",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=1",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=2",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=3",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=4",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=5",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=6",
        ],
    ),
    (
        |fixture| {
            let forget = |ids: &mut HashSet<DeliveryId>| ids.clear();
            fixture.calls.on_result("deliveries.begin_sending", forget);
        },
        Duration::ZERO,
        &["WARN attempt: lease expired before the attempt; nothing sent"],
    ),
    (
        |fixture| {
            let forget = |ids: &mut HashSet<DeliveryId>| ids.clear();
            fixture.calls.on_result("deliveries.settle", forget);
        },
        Duration::ZERO,
        &["WARN attempt: attempt result ignored: lease expired or delivery removed"],
    ),
    (
        |fixture| fixture.fail(|method, _| method == "deliveries.settle"),
        seconds(15),
        &[
            "ERROR attempt: attempt result not recorded yet; counts as failed if its lease ends first",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=1",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=1",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=2",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=3",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=4",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=5",
            "WARN context: store operation failed; retrying error=the store is unreachable consecutive_failures=6",
        ],
    ),
    (
        |fixture| {
            fixture.settings.disable_after = Some(Duration::ZERO);
            fixture.transport.set_replies("a", [Status(500)]);
            fixture.fail(|method, _| method == "endpoints.disable_if_failing");
        },
        HOUR,
        &["WARN attempt: failed to disable endpoint endpoint=whe_a error=the store is unreachable"],
    ),
    (
        |fixture| {
            let report = |corrected: &mut u64| *corrected = 3;
            fixture.calls.on_result("deliveries.correct_times", report);
        },
        Duration::ZERO,
        &["WARN maintenance: corrected times that a clock that was ahead wrote corrected=3"],
    ),
];

#[test]
fn each_problem_is_logged_with_its_level_and_its_cause() {
    for (prepare, time, expected) in PROBLEMS {
        let mut fixture = WorkerFixture::with_replies([Status(204)]);
        prepare(&mut fixture);
        thread_log::record();
        fixture.start();
        fixture.advance(*time);
        let log = thread_log::take();
        let problem = |line: &str| {
            let has_level = |level: &&str| line.contains(&format!(" {level} "));
            let level = ["WARN", "ERROR"].into_iter().find(has_level)?;
            let (_, text) = line.split_once("forum_api::worker::")?;
            let is_dead = text.contains("delivery attempt completed");
            (!is_dead).then(|| format!("{level} {text}"))
        };
        let mut problems: Vec<_> = log.lines().filter_map(problem).collect();
        problems.sort_unstable();
        assert_eq!(problems, *expected, "{log}");
    }
}

#[test]
fn a_dead_delivery_is_one_warning() {
    let mut fixture = WorkerFixture::with_replies([Status(500); 6]);
    fixture.settings.poll_interval = HOUR;
    thread_log::record();
    fixture.start();
    (0..6).for_each(|_| fixture.advance(HOUR));
    let log = thread_log::take();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 1, "{log}");
    let end = "state=\"dead\" elapsed_ms=0 reason=\"the endpoint responded with 500\"";
    assert!(warnings[0].contains(end));
}

#[test]
fn secrets_bodies_and_urls_are_not_logged() {
    let fixture = WorkerFixture::new();
    fixture.add("a");
    let replies = [Panics, Status(500), Hangs, Status(204)];
    fixture.transport.set_replies("a", replies);
    let event = fixture.insert_post_event();
    fixture.fail(|_, calls| calls % 5 == 0);
    let log = log(&fixture);
    assert!(log.lines().count() > 4);
    for private in [SECRET, &*url("a"), &*event.body, "sha256=", "xxxx"] {
        assert!(!log.contains(private), "{private}");
    }
}
