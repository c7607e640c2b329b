//! A worker that ends in order.

use forum_api::webhook::State;

use super::people::Word;
use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

/// Tells the worker to stop while time goes on; what is asked of the handle says when it has.
fn stop(scene: &Scene, handle: &forum_api::worker::WorkerHandle) {
    use forum_api::runtime::Runtime as _;
    let stopped = handle.clone();
    drop(
        scene
            .runtime
            .detach(Box::pin(async move { stopped.stop().await })),
    );
    scene.runtime.run();
}

#[test]
fn an_idle_worker_stops_at_once_and_does_nothing_more() {
    let scene = Scene::new();
    scene.add("a");
    let handle = scene.start();
    scene.runtime.block_on(handle.stop());
    assert!(handle.health().stopped);
    scene.counted.take_counts();
    scene.happen();
    handle.wake();
    scene.pass(HOUR);
    assert!(scene.counted.take_counts().is_empty());
    assert_eq!(scene.runtime.asleep_until(), None);
    scene.runtime.block_on(handle.stop());
}

#[test]
fn what_is_under_way_ends_and_is_noted_and_nothing_else_begins() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene
        .receivers
        .does(&url("a"), [Reply::After(seconds(8), 204)]);
    (0..10).for_each(|_| scene.queue(&endpoint));
    let handle = scene.start();
    scene.pass(seconds(3));
    stop(&scene, &handle);
    assert!(!handle.health().stopped);
    scene.pass(seconds(5));
    assert!(handle.health().stopped);
    assert_eq!(scene.count(State::Delivered), 4);
    assert_eq!(scene.count(State::Queued), 6);
    assert_eq!(scene.receivers.sent().len(), 4);
}

#[test]
fn a_receiver_that_hangs_holds_it_up_for_a_step() {
    let scene = Scene::new();
    scene.queue(&scene.add("a"));
    scene.receivers.does(&url("a"), [Reply::Hangs]);
    let handle = scene.start();
    stop(&scene, &handle);
    scene.pass(seconds(15));
    assert!(handle.health().stopped);
    assert_eq!(scene.stands(), (State::Retrying, 1));
}

#[test]
fn what_was_claimed_and_not_sent_is_given_back_uncounted() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene.people.say(1, Word::SeesAllAfter(seconds(5)));
    (0..3).for_each(|_| scene.queue(&endpoint));
    let handle = scene.start();
    assert_eq!(handle.health().under_way, 3);
    stop(&scene, &handle);
    scene.pass(seconds(5));
    assert!(handle.health().stopped);
    assert!(scene.receivers.sent().is_empty());
    scene.start();
    scene.pass(seconds(5));
    assert_eq!(
        scene.count(State::Delivered),
        3,
        "without waiting for a lease to run out"
    );
    assert!(
        scene
            .deliveries()
            .iter()
            .all(|one| one.progress.attempts == 1)
    );
}

#[test]
fn a_store_that_fails_does_not_hold_it_up() {
    let scene = Scene::new();
    scene.counted.fail(|_, _| true);
    let handle = scene.start();
    scene.pass(seconds(600));
    scene.runtime.block_on(handle.stop());
    assert!(handle.health().stopped);
}

#[test]
fn owners_who_cannot_be_asked_for_hold_it_up_for_a_step() {
    let scene = Scene::new();
    for owner in 1..=20 {
        scene.add_of(owner, &format!("of-{owner}"));
        scene.people.say(owner, Word::NeverSays);
    }
    scene.happen();
    let handle = scene.start();
    stop(&scene, &handle);
    scene.pass(seconds(15));
    assert!(handle.health().stopped);
}
