//! What is kept, and for how long.

use forum_api::webhook::State;

use super::people::Word;
use super::receivers::Reply;
use super::scene::{HOUR, Scene, seconds, url};

const DAY: u64 = 24 * 3600;

#[test]
fn eight_days_later_the_dead_are_there_alone_and_can_be_retried() {
    let mut scene = Scene::new();
    scene.settings.poll = HOUR;
    scene.add("good");
    scene.add("gone");
    scene.add("dead");
    let withheld = scene.add_of(2, "withheld");
    scene.receivers.does(&url("gone"), [Reply::Status(410)]);
    scene.receivers.does(&url("dead"), [Reply::Status(500)]);
    scene.people.say(2, Word::CannotAct);
    scene.queue(&withheld);
    scene.happen();
    let handle = scene.start();
    scene.pass(seconds(6 * DAY));
    let states = [State::Delivered, State::Gone, State::Withheld, State::Dead];
    assert_eq!(states.map(|state| scene.count(state)), [1, 1, 1, 1]);
    scene.pass(seconds(2 * DAY));
    assert_eq!(states.map(|state| scene.count(state)), [0, 0, 0, 1]);
    let (dead, _) = scene.only();
    scene.receivers.does(&url("dead"), [Reply::Status(200)]);
    scene.retry(&dead);
    handle.wake();
    scene.runtime.run();
    assert_eq!(scene.stands(), (State::Delivered, 1));
}

#[test]
fn it_sweeps_at_its_start_and_each_hour_in_small_batches() {
    let mut scene = Scene::new();
    scene.settings.poll = HOUR;
    let endpoint = scene.add("a");
    let handle = scene.start();
    for _ in 0..1200 {
        scene.queue(&endpoint);
    }
    handle.wake();
    scene.runtime.run();
    assert_eq!(scene.count(State::Delivered), 1200);
    scene.runtime.block_on(handle.stop());
    scene.pass(seconds(8 * DAY));
    scene.start();
    assert_eq!(scene.deliveries().len(), 700, "one batch at once");
    scene.counted.take_counts();
    scene.pass(seconds(1));
    assert_eq!(scene.deliveries().len(), 0);
    scene.pass(seconds(DAY - 1));
    assert_eq!(scene.counted.take_counts()["sweep"], 2 + 23);
}
