//! How much is under way at once, and that nobody waits for anybody else.

use forum_api::webhook::State;

use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

/// Where the worker finds out nothing for an hour unless it is woken.
fn sleepy() -> Scene {
    let mut scene = Scene::new();
    scene.settings.poll = HOUR;
    scene
}

#[test]
fn an_endpoint_gets_four_at_once_and_its_next_when_one_ends() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene
        .receivers
        .does(&url("a"), [Reply::After(seconds(1), 200)]);
    for _ in 0..40 {
        scene.queue(&endpoint);
    }
    let handle = scene.start();
    assert_eq!(handle.health().under_way, 4);
    scene.pass(seconds(10));
    assert_eq!(scene.count(State::Delivered), 40);
    assert_eq!(scene.receivers.most(), (4, 4));
    let times = scene.receivers.times(&url("a"));
    assert!(times.is_sorted() && times[39].since(times[0]) == seconds(9));
}

#[test]
fn all_together_get_256_at_once_and_the_rest_when_some_end() {
    let scene = sleepy();
    for number in 0..100 {
        let name = format!("n{number}");
        let endpoint = scene.add(&name);
        scene
            .receivers
            .does(&url(&name), [Reply::After(seconds(1), 200)]);
        (0..8).for_each(|_| scene.queue(&endpoint));
    }
    scene.start();
    scene.pass(seconds(4));
    assert_eq!(scene.count(State::Delivered), 800);
    assert_eq!(scene.receivers.most(), (4, 256));
}

#[test]
fn one_that_hangs_with_a_thousand_queued_delays_nobody() {
    let scene = Scene::new();
    let hangs = scene.add("hangs");
    scene.receivers.does(&url("hangs"), [Reply::Hangs]);
    (0..1000).for_each(|_| scene.queue(&hangs));
    let others: Vec<_> = (0..50).map(|number| format!("n{number}")).collect();
    for name in &others {
        scene.queue(&scene.add(name));
    }
    let began = scene.now();
    scene.start();
    for name in &others {
        assert_eq!(scene.receivers.times(&url(name)), [began]);
    }
    assert_eq!(scene.receivers.times(&url("hangs")).len(), 4);
}

#[test]
fn one_that_hangs_does_not_make_the_worker_spin() {
    let scene = Scene::new();
    let hangs = scene.add("hangs");
    scene.receivers.does(&url("hangs"), [Reply::Hangs]);
    (0..1000).for_each(|_| scene.queue(&hangs));
    scene.start();
    scene.counted.take_counts();
    scene.pass(seconds(14));
    let counts = scene.counted.take_counts();
    assert_eq!(counts["claim"], 14, "one each second");
    assert_eq!(counts.get("settle"), None);
}

#[test]
fn with_all_slots_taken_nothing_is_claimed() {
    let mut scene = Scene::new();
    scene.settings.at_once = 4;
    let hangs = scene.add("hangs");
    scene.receivers.does(&url("hangs"), [Reply::Hangs]);
    (0..10).for_each(|_| scene.queue(&hangs));
    scene.start();
    scene.counted.take_counts();
    scene.pass(seconds(14));
    assert_eq!(scene.counted.take_counts().get("claim"), None);
}

#[test]
fn a_flood_of_events_and_one_of_deliveries_go_side_by_side() {
    let scene = Scene::new();
    let busy = scene.add("busy");
    scene
        .receivers
        .does(&url("busy"), [Reply::After(seconds(1), 200)]);
    (0..100).for_each(|_| scene.queue(&busy));
    scene.add("quick");
    (0..1000).for_each(|_| drop(scene.happen()));
    scene.start();
    assert_eq!(scene.receivers.times(&url("quick")).len(), 1000);
    assert_eq!(scene.receivers.times(&url("busy")).len(), 4);
}

#[test]
fn a_slot_that_is_freed_while_something_is_claimed_is_not_forgotten() {
    let scene = sleepy();
    let endpoint = scene.add("a");
    let replies = (0..40).map(|number| Reply::Behind(number * 5 % 12, 200));
    scene.receivers.does(&url("a"), replies);
    (0..40).for_each(|_| scene.queue(&endpoint));
    scene.start();
    assert_eq!(scene.count(State::Delivered), 40);
}

#[test]
fn with_few_slots_each_that_is_freed_is_taken_at_once() {
    let mut scene = sleepy();
    scene.settings.at_once = 2;
    for number in 0..20 {
        let name = format!("n{number}");
        scene.queue(&scene.add(&name));
        scene
            .receivers
            .does(&url(&name), [Reply::After(seconds(1), 200)]);
    }
    scene.start();
    scene.pass(seconds(10));
    assert_eq!(scene.count(State::Delivered), 20);
}
