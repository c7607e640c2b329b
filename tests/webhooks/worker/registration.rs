//! The registration of an endpoint and the events before it (contract, section 8).

use std::time::Duration;

use super::scene::{HOUR, Scene, seconds};

/// Events that occurred before the registration are not delivered, also those that still wait for fan-out then.
#[test]
fn an_endpoint_receives_no_event_from_before_its_registration() {
    let scene = Scene::new();
    scene.happen();
    scene.pass(Duration::from_millis(1));
    scene.add("a");
    let at_once = scene.happen();
    scene.pass(seconds(1));
    let later = scene.happen();
    scene.start();
    scene.pass(HOUR);
    let sent = scene.receivers.sent();
    let bodies: Vec<_> = sent.iter().map(|sent| sent.request.body.clone()).collect();
    assert_eq!(bodies, [at_once.body, later.body]);
}
