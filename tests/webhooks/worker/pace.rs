//! When the worker wakes, and how little it does while there is nothing to do.

use std::collections::BTreeMap;

use forum_api::webhook::State;

use super::receivers::Reply;
use super::scene::{Scene, seconds, url};

#[test]
fn a_wake_is_heard_at_once() {
    let scene = Scene::new();
    scene.add("a");
    let handle = scene.start();
    scene.pass(std::time::Duration::from_millis(300));
    scene.happen();
    handle.wake();
    scene.runtime.run();
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(scene.receivers.sent()[0].at, scene.now());
}

#[test]
fn what_nobody_woke_it_for_is_found_within_a_second() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene.start();
    scene.happen();
    scene.pass(seconds(1));
    assert_eq!(scene.stands(), (State::Delivered, 1));
    scene.queue(&endpoint);
    scene.pass(seconds(1));
    assert_eq!(scene.count(State::Delivered), 2);
}

#[test]
fn an_idle_worker_asks_for_events_and_deliveries_once_a_second() {
    let scene = Scene::new();
    scene.add("a");
    scene.start();
    scene.counted.take_counts();
    scene.pass(seconds(60));
    let counts = scene.counted.take_counts();
    assert_eq!(counts, BTreeMap::from([("claim", 60), ("waiting", 60)]));
}

#[test]
fn one_that_waits_for_a_retry_asks_no_more_often() {
    let scene = Scene::new();
    scene.add("a");
    scene.receivers.does(&url("a"), [Reply::Status(500)]);
    scene.happen();
    scene.start();
    scene.counted.take_counts();
    scene.pass(seconds(29));
    let counts = scene.counted.take_counts();
    assert_eq!(counts, BTreeMap::from([("claim", 29), ("waiting", 29)]));
}

#[test]
fn between_two_polls_it_sleeps() {
    let mut scene = Scene::new();
    scene.settings.poll = seconds(20);
    scene.start();
    let now = scene.now();
    assert_eq!(scene.runtime.asleep_until(), Some(now.plus(seconds(20))));
}

#[test]
fn a_thousand_wakes_are_two() {
    let scene = Scene::new();
    let handle = scene.start();
    scene.counted.take_counts();
    (0..1000).for_each(|_| handle.wake());
    scene.runtime.run();
    let counts = scene.counted.take_counts();
    assert_eq!(counts, BTreeMap::from([("claim", 2), ("waiting", 2)]));
}

#[test]
fn one_delivery_takes_a_handful_of_calls() {
    let scene = Scene::new();
    scene.add("a");
    let handle = scene.start();
    scene.counted.take_counts();
    scene.happen();
    handle.wake();
    scene.runtime.run();
    let counts = scene.counted.take_counts();
    let expected = [
        ("begin_sending", 1),
        ("claim", 3),
        ("endpoints", 1),
        ("fan_out", 1),
        ("settle", 1),
        ("waiting", 1),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn it_is_well_while_it_looks() {
    let scene = Scene::new();
    let handle = scene.start();
    scene.pass(seconds(600));
    let health = handle.health();
    assert_eq!(health.looked_at, Some(scene.now()));
    assert_eq!(
        (health.failures, health.under_way, health.stopped),
        (0, 0, false)
    );
}

#[test]
fn what_another_worker_is_just_taking_is_not_asked_for_at_once() {
    let scene = Scene::new();
    scene.counted.contend();
    scene.start();
    scene.counted.take_counts();
    scene.pass(seconds(60));
    assert_eq!(scene.counted.take_counts()["claim"], 60);
}
