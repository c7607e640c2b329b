//! A name that leads elsewhere at the attempt than at its registration.

use forum_api::webhook::State;

use super::story::Story;
use super::table::{By, OK};
use super::walks::aim;
use crate::wire::{LONG, Names};

#[tokio::test]
async fn a_name_that_turns_to_loopback_is_sent_nothing() {
    let mut aim = aim(By::Http, &[OK], LONG).await;
    let names = Names::turning(&[&["93.184.216.34"], &["127.0.0.1"]]);
    aim.settings.allow_private = false;
    aim.names = names.clone();
    let mut story = Story::begin(aim).await;
    let end = story.stations().await.pop().unwrap();
    assert_eq!((end.state, end.attempts), (State::Dead, 6));
    let refused = "the address 127.0.0.1 is loopback, and allow_private is off";
    assert_eq!(story.told().await, [refused; 6]);
    assert_eq!((names.asked(), story.receiver.connections()), (7, 0));
    assert!(story.requests().await.is_empty());
}
