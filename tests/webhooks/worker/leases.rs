//! Deliveries that a worker took and never said a word of again, and workers side by side.

use std::collections::HashMap;

use forum_api::store::{Claim, Claimed};
use forum_api::webhook::State;

use super::people::Word;
use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

/// Another worker claims the one delivery that is due.
fn claim(scene: &Scene) -> Claimed {
    let claim = Claim {
        room: 100,
        per_endpoint: 100,
        running: HashMap::new(),
        lease: seconds(60),
    };
    let claims = scene.stores.deliveries.claim(&claim, scene.now());
    let mut claims = scene.runtime.block_on(claims).unwrap();
    assert_eq!(claims.taken.len(), 1);
    claims.taken.remove(0)
}

/// Another worker claims the one delivery that is due, begins to send, and dies.
fn send_and_die(scene: &Scene) {
    let claimed = claim(scene);
    let deliveries = &scene.stores.deliveries;
    let begun = deliveries.begin_sending(std::slice::from_ref(&claimed), scene.now());
    assert_eq!(scene.runtime.block_on(begun).unwrap().len(), 1);
}

#[test]
fn a_lease_that_runs_out_before_sending_is_not_an_attempt() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    for _ in 0..8 {
        claim(&scene);
        scene.pass(seconds(60));
    }
    scene.start();
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(scene.receivers.sent().len(), 1);
    assert_eq!(scene.only().1.len(), 1);
}

/// A worker that stands still for a while, as a virtual machine does that is paused.
#[test]
fn nothing_is_sent_on_a_lease_that_does_not_cover_the_attempt() {
    for (pause, another) in [(40, false), (41, false), (56, true)] {
        let scene = Scene::new();
        scene.queue(&scene.add("a"));
        scene.people.say(1, Word::SeesAllAfter(seconds(5)));
        scene.start();
        scene.clock.advance(seconds(pause));
        if another {
            // The lease is another worker's by now.
            claim(&scene);
        }
        scene.people.say(1, Word::Sees(vec![1]));
        scene.counted.take_counts();
        scene.pass(seconds(5));
        let sent = scene.receivers.sent().len();
        let released = scene.counted.take_counts().contains_key("release");
        let covered = pause <= 40;
        assert_eq!(released, !covered, "after {pause} s");
        assert_eq!(sent, usize::from(!another), "after {pause} s");
        scene.pass(seconds(60));
        assert_eq!(scene.stands(), (State::Delivered, 1), "after {pause} s");
        assert_eq!(scene.receivers.sent().len(), 1);
    }
}

#[test]
fn what_cannot_be_recorded_as_begun_is_not_sent() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    scene.counted.fail(|name, _| name == "begin_sending");
    scene.start();
    assert!(scene.receivers.sent().is_empty());
    assert_eq!(scene.stands(), (State::Queued, 0));
    scene.counted.fail(|_, _| false);
    scene.pass(seconds(5));
    assert_eq!(scene.stands(), (State::Delivered, 1));
}

#[test]
fn the_starts_of_what_was_claimed_together_are_recorded_together() {
    let scene = Scene::new();
    for number in 0..60 {
        scene.queue(&scene.add(&format!("n{number}")));
    }
    scene.start();
    assert_eq!(scene.count(State::Delivered), 60);
    let counts = scene.counted.take_counts();
    assert!(counts["begin_sending"] <= 3, "{counts:?}");
}

#[test]
fn a_lease_that_runs_out_is_a_failed_attempt_with_which_nothing_is_sent() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    send_and_die(&scene);
    scene.start();
    scene.pass(seconds(59));
    assert_eq!(scene.stands(), (State::Queued, 0), "the lease holds");
    scene.pass(seconds(1));
    assert_eq!(scene.stands(), (State::Retrying, 1));
    assert!(scene.receivers.sent().is_empty());
    scene.pass(seconds(29));
    assert!(scene.receivers.sent().is_empty());
    scene.pass(seconds(1));
    assert_eq!(scene.stands(), (State::Delivered, 2));
    let (_, attempts) = scene.only();
    let lost = attempts[0].error.as_deref();
    assert_eq!(lost, Some("the worker that had it never said how it ended"));
    assert_eq!(attempts.len(), 2);
}

#[test]
fn a_lease_that_runs_out_at_the_sixth_attempt_leaves_it_dead() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    scene.receivers.does(&url("a"), [Reply::Status(500)]);
    let handle = scene.start();
    scene.pass(seconds(30 + 60 + 120 + 240));
    assert_eq!(scene.stands(), (State::Retrying, 5));
    scene.runtime.block_on(handle.stop());
    scene.pass(seconds(480));
    send_and_die(&scene);
    scene.start();
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Dead, 6));
    assert_eq!(scene.receivers.sent().len(), 5);
}

#[test]
fn two_workers_on_one_store_send_each_attempt_once() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.add(name);
        let slow = Reply::After(seconds(3), 500);
        scene
            .receivers
            .does(&url(name), [slow, slow, Reply::Status(200)]);
    }
    for _ in 0..50 {
        scene.happen();
    }
    let handles = [scene.start(), scene.start()];
    handles.iter().for_each(|handle| handle.wake());
    scene.pass(HOUR);
    assert_eq!(scene.count(State::Delivered), 150);
    let mut sent: Vec<_> = scene.receivers.sent();
    sent.sort_by_key(|sent| (sent.header("x-forum-delivery").to_owned(), sent.at));
    let attempts: u32 = scene
        .deliveries()
        .iter()
        .map(|one| one.progress.attempts)
        .sum();
    assert_eq!(sent.len(), usize::try_from(attempts).unwrap());
    let again = |pair: &[super::receivers::Sent]| {
        let ids = [0, 1].map(|place| pair[place].header("x-forum-delivery"));
        ids[0] == ids[1] && pair[1].at.since(pair[0].at) < seconds(30)
    };
    assert!(!sent.windows(2).any(again), "no attempt is sent twice");
}
