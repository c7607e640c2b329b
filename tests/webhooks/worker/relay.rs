//! Events of a board whose transactions cannot write to the outbox.

use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::host::{BackendError, BackendResult};
use forum_api::model::EventId;
use forum_api::store::PendingEventStore;
use forum_api::webhook::DeliveryState::Delivered;
use forum_api::webhook::{Event, Topic};
use forum_test_support::thread_log;

use super::fixture::{HOUR, WorkerFixture, seconds};

/// Events in a vector, whose removal can fail.
#[derive(Default)]
struct BoardEvents(Mutex<Vec<Event>>, Mutex<bool>);

impl BoardEvents {
    fn insert(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn fail_removals(&self, fails: bool) {
        *self.1.lock().unwrap() = fails;
    }
}

#[async_trait]
impl PendingEventStore for BoardEvents {
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let events = self.0.lock().unwrap();
        Ok(events.iter().take(limit as usize).cloned().collect())
    }

    async fn remove(&self, ids: &[EventId]) -> BackendResult<()> {
        if *self.1.lock().unwrap() {
            return Err(BackendError::new("the disk is full"));
        }
        let mut events = self.0.lock().unwrap();
        events.retain(|event| !ids.contains(&event.id));
        Ok(())
    }
}

fn fixture() -> (WorkerFixture, Arc<BoardEvents>) {
    let mut fixture = WorkerFixture::with_hourly_poll();
    let events = Arc::<BoardEvents>::default();
    fixture.pending_events = Some(events.clone());
    fixture.add("a");
    (fixture, events)
}

fn post(fixture: &WorkerFixture) -> Event {
    fixture.event(&Topic::POST_CREATED, Some(1))
}

#[test]
fn pending_events_are_delivered_at_a_wake_and_when_the_worker_polls() {
    let (fixture, board) = fixture();
    let handle = fixture.start();
    for _ in 0..60 {
        board.insert(post(&fixture));
    }
    fixture.wake(&handle);
    assert_eq!((fixture.count(Delivered), board.count()), (60, 0));
    board.insert(post(&fixture));
    fixture.advance(HOUR);
    assert_eq!((fixture.count(Delivered), board.count()), (61, 0));
}

/// Returns the lines about failures of the relay, each from the name of the loop on.
fn failures(log: &str) -> Vec<&str> {
    let line = "ERROR forum_api::worker::context: webhook worker iteration failed; retrying ";
    log.lines().filter_map(|found| Some(found.split_once(line)?.1)).collect()
}

#[test]
fn an_event_that_cannot_be_removed_is_delivered_once() {
    let (fixture, board) = fixture();
    board.fail_removals(true);
    board.insert(post(&fixture));
    thread_log::record();
    let handle = fixture.start();
    let failure = "poll_loop=\"relay\" error=the disk is full consecutive_failures=1";
    assert_eq!(failures(&thread_log::take()), [failure]);
    assert_eq!(handle.health().last_poll_at, None);
    fixture.advance(seconds(60));
    assert!(handle.health().consecutive_failures > 2);
    assert_eq!((fixture.count(Delivered), board.count()), (1, 1));
    board.fail_removals(false);
    fixture.advance(seconds(60));
    assert_eq!((fixture.sent().len(), board.count()), (1, 0));
    assert_eq!(handle.health().consecutive_failures, 0);
}

#[test]
fn an_event_that_the_outbox_rejects_delays_no_other_event() {
    let (fixture, board) = fixture();
    let rejected = post(&fixture);
    let id = rejected.id.clone();
    fixture.calls.on_arguments("outbox.insert", move |(event,): &mut (Event,)| {
        if event.id == id { Err(BackendError::new("the body is malformed")) } else { Ok(()) }
    });
    board.insert(rejected.clone());
    board.insert(post(&fixture));
    thread_log::record();
    let handle = fixture.start();
    // A notification reads the event again.
    (0..9).for_each(|_| fixture.wake(&handle));
    let failure = "poll_loop=\"relay\" error=the event evt_0 was not copied to the outbox: the body is malformed consecutive_failures=1";
    assert_eq!(failures(&thread_log::take()), [failure], "not for each notification");
    assert_eq!(fixture.count(Delivered), 1);
    assert_eq!(*board.0.lock().unwrap(), [rejected]);
    assert!(handle.health().consecutive_failures > 0);
    // The pause after an iteration that copied nothing has grown.
    for delivered in 2..5 {
        fixture.advance(seconds(60));
        board.insert(post(&fixture));
        fixture.wake(&handle);
        assert_eq!((fixture.count(Delivered), board.count()), (delivered, 1));
        let health = handle.health();
        assert!(health.consecutive_failures > 0);
        assert_eq!(health.last_poll_at, Some(fixture.now()));
    }
}
