//! What events hold.

use forum_api::webhook::{Event, Topic};
use serde_json::{Value, json};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "a_post_is_told_as_everybody_finds_it",
        "a post is told as it was before",
        Plant::Events(|events| {
            retell(events, &Topic::POST_UPDATED, |data| data["post"]["version"] = json!(1));
        }),
    ),
    (
        "a_post_is_told_as_everybody_finds_it",
        "a post is told as its editor finds it",
        Plant::Events(|events| {
            retell(events, &Topic::POST_UPDATED, |data| data["post"]["canEdit"] = json!(true));
        }),
    ),
    (
        "a_thread_is_told_as_everybody_finds_it",
        "a thread counts its first post among the replies",
        Plant::Events(|events| {
            retell(events, &Topic::THREAD_CREATED, |data| data["thread"]["replyCount"] = json!(1));
        }),
    ),
    (
        "a_poll_is_told_as_everybody_finds_it",
        "a poll is told as it was before the vote",
        Plant::Events(|events| {
            retell(events, &Topic::POLL_VOTED, |data| data["poll"]["totalVotes"] = json!(0));
        }),
    ),
    (
        "a_vote_is_told_without_its_voter",
        "a vote is told with its voter's name",
        Plant::Events(|events| {
            retell(events, &Topic::POLL_VOTED, |data| data["poll"]["voters"] = json!(["bob"]));
        }),
    ),
    (
        "a_message_is_told_by_its_ids",
        "a message is told with its subject",
        Plant::Events(|events| {
            retell(events, &Topic::MESSAGE_SENT, |data| data["message"]["subject"] = json!("Tea"));
        }),
    ),
    (
        "a_deleted_post_is_told_without_its_text",
        "what was deleted is told once more",
        Plant::Events(|events| {
            retell(events, &Topic::POST_DELETED, |data| data["post"]["body"] = json!("Regretted"));
        }),
    ),
    (
        "what_awaits_approval_shows_in_no_event",
        "who waits in a thread is told",
        Plant::Events(|events| {
            retell(events, &Topic::POST_UPDATED, |data| data["thread"]["waiting"] = json!(["nora"]));
        }),
    ),
    (
        "who_did_it_is_told",
        "a post's author did it all",
        Plant::Events(|events| {
            retell(events, &Topic::POST_UPDATED, |data| data["actor"] = data["post"]["author"].clone());
        }),
    ),
    (
        "an_event_says_where_it_happened",
        "events are in no forum",
        Plant::Events(|events| events.iter_mut().for_each(|event| event.forum = None)),
    ),
    (
        "a_rating_without_a_post_is_in_no_forum",
        "a rating without a post is in the first forum",
        Plant::Events(|events| {
            let ratings = events.iter_mut().filter(|event| event.topic == Topic::MEMBER_RATED);
            ratings.for_each(|event| event.forum = Some(1.into()));
        }),
    ),
];

/// Makes what these events hold something else.
fn retell(events: &mut [Event], topic: &Topic, change: fn(&mut Value)) {
    for event in events.iter_mut().filter(|event| event.topic == *topic) {
        let mut body: Value = serde_json::from_str(&event.body).unwrap();
        change(&mut body["data"]);
        event.body = body.to_string();
    }
}
