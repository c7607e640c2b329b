//! Log lines of the worker.

use forum_test_support::thread_log;

use super::fixture::{HOUR, SECRET, WorkerFixture, url};
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
    let ids = format!("delivery={} endpoint={}", delivery.id, delivery.endpoint_id);
    for (end, fields) in ends.iter().zip([
        [
            "attempt=1",
            "state=\"retrying\"",
            "status=503",
            "reason=\"the endpoint responded with 503\"",
        ],
        ["attempt=2", "state=\"retrying\"", "elapsed_ms=0", "reason=\"connection"],
        ["attempt=3", "state=\"delivered\"", "status=204", "request_id=\"7f3a\""],
    ]) {
        assert!(end.contains(" delivery{delivery="), "{end}");
        assert!(end.contains(&ids) && end.contains("topic=post.created"), "{end}");
        assert!(fields.iter().all(|field| end.contains(field)), "{end}");
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
