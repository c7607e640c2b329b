//! What an operator queues again.

use std::time::Duration;

use forum_api::webhook::State;

use super::story::Story;
use super::table::{By, GONE, LATER, OK};
use super::walks::aim;
use crate::sample::after;
use crate::wire::LONG;

#[tokio::test]
async fn an_operator_retries_a_delivery_twice_and_its_id_stays() {
    let acts = [LATER, LATER, LATER, LATER, LATER, LATER, GONE, OK];
    let mut story = Story::begin(aim(By::Http, &acts, LONG).await).await;
    let before = story.stations().await.pop().unwrap();
    assert_eq!((before.state, before.attempts), (State::Dead, 6));
    for state in [State::Gone, State::Delivered] {
        story.worker.pass(Duration::from_secs(3600)).await;
        let retried = story.stores.deliveries.retry(&story.delivery, after(0));
        assert!(retried.await.unwrap());
        story.worker.wake().await;
        let (progress, _) = story.stands().await;
        assert_eq!((progress.state, progress.attempts), (state, 1));
    }
    for expected in [true, false] {
        let again = story.stores.deliveries.retry(&story.delivery, after(0));
        assert_eq!(again.await.unwrap(), expected, "a queued one is refused");
    }
    assert_eq!(story.told().await[5..], ["503 later", "410 bye", "200 ok"]);
    assert_eq!(story.requests().await.len(), 8);
}
