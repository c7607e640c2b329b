//! Deliveries that a worker took and never said a word of again, and workers side by side.

use std::collections::HashMap;

use forum_api::store::Claim;
use forum_api::webhook::State;

use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

/// A worker claims the one delivery that is due, and dies.
fn claim_and_die(scene: &Scene) {
    let claim = Claim {
        room: 100,
        per_endpoint: 100,
        running: HashMap::new(),
        lease: seconds(60),
    };
    let claims = scene.stores.deliveries.claim(&claim, scene.now());
    let claims = scene.runtime.block_on(claims).unwrap();
    assert_eq!(claims.taken.len(), 1);
}

#[test]
fn a_lease_that_runs_out_is_a_failed_attempt_with_which_nothing_is_sent() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    claim_and_die(&scene);
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
    claim_and_die(&scene);
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
