//! Walks each path of the table.

use std::time::Duration;

use forum_api::webhook::{Attempted, State};
use tokio::task::JoinSet;

use super::story::{Aim, Story, second};
use super::table::{By, PATHS, Path, SLOW};
use crate::wire::{Act, LONG, Names, SHORT, settings};

#[tokio::test]
async fn each_path_of_the_table() {
    walk(PATHS, LONG).await;
}

#[tokio::test]
async fn each_path_on_which_an_attempt_is_given_up() {
    walk(SLOW, SHORT * 3).await;
}

/// Walks these paths side by side, each attempt `within` this time.
async fn walk(paths: &[Path], within: Duration) {
    let mut walks = JoinSet::new();
    for path in paths.iter().copied() {
        walks.spawn(check(path, within));
    }
    while let Some(walked) = walks.join_next().await {
        walked.unwrap();
    }
}

async fn check((title, by, acts, ends, log): Path, within: Duration) {
    let mut story = Story::begin(aim(by, acts, within).await).await;
    let stations = story.stations().await;
    let stations = stations.iter().map(|it| (it.state, it.attempts));
    let expected = stations_to(ends, log.len() as u32);
    assert_eq!(stations.collect::<Vec<_>>(), expected, "{title}");
    assert_eq!(story.told().await, log, "{title}");
    let (progress, attempts) = story.stands().await;
    assert_eq!(progress.due_at, None);
    Story::check_waits(&attempts);
    check_requests(by, &mut story, &attempts).await;
}

/// Where a delivery stands that ends so with its `last` attempt.
fn stations_to(ends: State, last: u32) -> Vec<(State, u32)> {
    let retrying = (1..last).map(|attempt| (State::Retrying, attempt));
    let stations = retrying.chain(std::iter::repeat((ends, last)));
    stations.take(6).collect()
}

/// That there was one connection an attempt, and a request wherever there was an answer.
async fn check_requests(by: By, story: &mut Story, attempts: &[Attempted]) {
    let listens = !matches!(by, By::Nobody);
    let connections = attempts.len() * usize::from(listens);
    let times = story.requests().await;
    let mut answered = attempts.iter().filter(|it| it.status.is_some());
    assert!(answered.all(|attempt| times.contains(&second(attempt))));
    assert_eq!(story.receiver.connections(), connections);
}

/// At a receiver that is reached so and does this, with each attempt `within` this time.
pub(super) async fn aim(by: By, acts: &[Act], within: Duration) -> Aim {
    Aim {
        receiver: by.receiver(acts.to_vec()).await,
        origin: by.origin(),
        names: Names::leading_to(&["127.0.0.1"]),
        settings: settings(within),
    }
}
