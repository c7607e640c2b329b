//! How long it takes from one attempt to the next: exactly what the rule says, by a clock that stands still.

use std::time::Duration;

use forum_api::webhook::Backoff;

use super::attempts::scene;
use super::receivers::Reply;
use super::scene::{HOUR, Scene, Spread, seconds, url};

/// The times between one attempt and the next.
fn waits(scene: &Scene) -> Vec<Duration> {
    let times = scene.receivers.times(&url("a"));
    let pairs = times.windows(2);
    pairs.map(|pair| pair[1].since(pair[0])).collect()
}

#[test]
fn the_waits_double_from_thirty_seconds_on() {
    let scene = scene([Reply::Status(500)]);
    scene.start();
    scene.pass(HOUR);
    assert_eq!(waits(&scene), [30, 60, 120, 240, 480].map(seconds));
}

#[test]
fn the_waits_are_up_to_a_fifth_longer() {
    let mut scene = scene([Reply::Status(500)]);
    scene.spread = Spread(255);
    scene.start();
    scene.pass(HOUR);
    let longest = [35_999, 71_999, 143_999, 287_999, 575_999].map(Duration::from_millis);
    assert_eq!(waits(&scene), longest);
}

#[test]
fn no_wait_is_longer_than_the_longest() {
    let mut scene = scene([Reply::Status(500)]);
    scene.settings.backoff = Backoff {
        initial: seconds(1800),
        max: HOUR,
    };
    scene.settings.poll = HOUR;
    scene.spread = Spread(255);
    scene.start();
    scene.pass(HOUR * 5);
    assert_eq!(waits(&scene)[0], Duration::from_millis(2_159_999));
    assert_eq!(waits(&scene)[1..], [HOUR; 4]);
}

#[test]
fn a_wait_shorter_than_the_poll_is_kept_as_well() {
    let mut scene = scene([Reply::Status(500)]);
    scene.settings.backoff.initial = Duration::from_millis(50);
    scene.settings.poll = HOUR;
    scene.start();
    scene.pass(seconds(10));
    let kept = [50, 100, 200, 400, 800].map(Duration::from_millis);
    assert_eq!(waits(&scene), kept);
}
