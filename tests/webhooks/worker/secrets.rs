//! Deliveries whose secret cannot be decrypted.

use std::sync::Arc;

use forum_api::webhook::{Endpoint, Plain, Sealed, State};

use super::scene::{HOUR, Lost, Scene, seconds, url};

#[test]
fn a_secret_that_cannot_be_decrypted_makes_its_deliveries_wait_ever_longer() {
    let mut scene = Scene::new();
    scene.secrets = Arc::new(Lost);
    scene.queue(&scene.add("a"));
    let handle = scene.start();
    let (delivery, log) = scene.only();
    assert_eq!(
        (delivery.progress.state, delivery.progress.attempts),
        (State::Retrying, 0)
    );
    assert_eq!(
        delivery.progress.due_at,
        Some(scene.now().plus(seconds(30)))
    );
    assert_eq!(log[0].error.as_deref(), Some("nothing was sent: no key"));
    scene.pass(HOUR * 24);
    let tried: Vec<_> = scene
        .only()
        .1
        .iter()
        .map(|one| one.at.since(delivery.created_at).as_secs())
        .collect();
    assert_eq!(tried[..8], [0, 30, 60, 120, 240, 480, 960, 1920]);
    assert!(tried.len() < 40, "at most once an hour in the end");
    assert_eq!(
        scene.stands(),
        (State::Retrying, 0),
        "no attempt is counted"
    );
    assert!(scene.receivers.sent().is_empty());
    scene.runtime.block_on(handle.stop());
    scene.secrets = Arc::new(Plain);
    scene.start();
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Delivered, 1));
}

#[test]
fn a_secret_that_cannot_be_decrypted_delays_no_other_endpoint() {
    let scene = Scene::new();
    let unreadable = scene.add_with("unreadable", |endpoint| Endpoint {
        secret: Sealed::new(vec![0xff; 64]),
        ..endpoint
    });
    let other = scene.add("other");
    scene.queue(&unreadable);
    (0..3).for_each(|_| scene.queue(&other));
    scene.start();
    assert_eq!(scene.receivers.times(&url("other")).len(), 3);
}
