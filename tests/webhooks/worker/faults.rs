//! A store that fails.

use forum_api::store::Settlement;
use forum_api::webhook::State;

use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

#[test]
fn a_store_that_fails_now_and_then_loses_nothing() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.add(name);
        let replies = [Reply::Status(500), Reply::After(seconds(1), 204)];
        scene.receivers.does(&url(name), replies);
    }
    (0..200).for_each(|_| drop(scene.happen()));
    scene.counted.fail(|_, calls| calls % 5 == 0);
    let handle = scene.start();
    scene.pass(HOUR);
    assert_eq!(scene.count(State::Delivered), 600);
    assert_eq!(
        scene.receivers.sent().len(),
        603,
        "and nothing was sent twice"
    );
    assert!(handle.health().failures <= 1);
}

#[test]
fn a_store_that_fails_for_long_is_asked_ever_less_often() {
    let scene = Scene::new();
    scene.add("a");
    scene.happen();
    scene.counted.fail(|_, _| true);
    let handle = scene.start();
    scene.pass(seconds(600));
    let counts = scene.counted.take_counts();
    assert_eq!((counts["waiting"], counts["claim"]), (26, 26));
    let health = handle.health();
    assert_eq!((health.failures, health.looked_at), (26, None));
    scene.counted.fail(|_, _| false);
    scene.pass(seconds(31));
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(handle.health().failures, 0);
}

#[test]
fn no_wake_makes_it_ask_a_failing_store_sooner() {
    let scene = Scene::new();
    scene.counted.fail(|_, _| true);
    let handle = scene.start();
    scene.counted.take_counts();
    for _ in 0..100 {
        handle.wake();
        scene.runtime.run();
    }
    assert!(scene.counted.take_counts().is_empty());
}

#[test]
fn an_end_that_cannot_be_noted_is_noted_later() {
    let scene = Scene::new();
    scene.add("a");
    scene.happen();
    scene
        .counted
        .fail(|name, calls| name == "settle" && calls < 12);
    scene.start();
    scene.pass(seconds(15));
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(scene.receivers.sent().len(), 1);
}

#[test]
fn an_end_that_cannot_be_noted_spoils_no_other() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.add(name);
    }
    scene.receivers.does(&url("b"), [Reply::Status(500)]);
    let is_failure = |one: &Settlement| one.progress.state == State::Retrying;
    scene.counted.refuse(is_failure);
    scene.happen();
    scene.start();
    assert_eq!(scene.count(State::Delivered), 2);
    assert_eq!(scene.count(State::Queued), 1);
    let counts = scene.counted.take_counts();
    assert!(counts["settle"] > 1, "all at once, and then each by itself");
}

#[test]
fn an_end_that_is_never_noted_counts_as_failed_when_the_lease_runs_out() {
    let scene = Scene::new();
    scene.add("a");
    scene.happen();
    scene.counted.fail(|name, _| name == "settle");
    scene.start();
    scene.pass(seconds(59));
    assert_eq!(scene.stands(), (State::Queued, 0));
    scene.counted.fail(|_, _| false);
    scene.pass(seconds(1));
    assert_eq!(scene.stands(), (State::Retrying, 1));
    scene.pass(seconds(30));
    assert_eq!(scene.stands(), (State::Delivered, 2));
    let sent = scene.receivers.sent();
    let ids: Vec<_> = sent
        .iter()
        .map(|sent| sent.header("x-forum-delivery"))
        .collect();
    assert!(
        ids.len() == 2 && ids[0] == ids[1],
        "at least once, and with one id"
    );
}
