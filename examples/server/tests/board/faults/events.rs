//! What is told of.

use forum_api::webhook::{Event, Topic};

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "what_is_posted_is_told_of",
        "a first post is told of before its thread",
        Plant::Events(|events| events.reverse()),
    ),
    (
        "an_edit_is_told_of",
        "edits are told to nobody",
        Plant::Events(|events| events.retain(|event| event.topic != Topic::POST_UPDATED)),
    ),
    (
        "an_edit_of_what_was_approved_is_told_of",
        "an approved edit is sent as a new post",
        Plant::Events(|events| {
            let edits = events.iter_mut().filter(|event| event.topic == Topic::POST_UPDATED);
            edits.for_each(|event| event.topic = Topic::POST_CREATED);
        }),
    ),
    (
        "a_deletion_is_told_of",
        "nobody is told that a post is there again",
        Plant::Events(|events| events.retain(|event| event.topic != Topic::POST_RESTORED)),
    ),
    (
        "a_first_post_is_told_of_as_its_thread",
        "a thread takes its first post along",
        Plant::Events(|events| twice(events, &Topic::THREAD_DELETED)),
    ),
    (
        "a_vote_is_told_of",
        "votes are told to nobody",
        Plant::Events(|events| events.retain(|event| event.topic != Topic::POLL_VOTED)),
    ),
    (
        "an_edit_of_a_poll_is_told_of",
        "an edit of a poll is told of as one of its post",
        Plant::Events(|events| {
            let edits = events.iter_mut().filter(|event| event.topic == Topic::POLL_UPDATED);
            edits.for_each(|event| event.topic = Topic::POST_UPDATED);
        }),
    ),
    (
        "a_rating_is_told_of",
        "ratings without a post are told to nobody",
        Plant::Events(|events| {
            events.retain(|event| event.topic != Topic::MEMBER_RATED || event.forum.is_some());
        }),
    ),
    (
        "a_message_is_told_of_once",
        "a message is told of for each recipient",
        Plant::Events(|events| twice(events, &Topic::MESSAGE_SENT)),
    ),
    (
        "replies_at_once_are_each_told_of",
        "what comes together is told of once",
        Plant::Events(|events| events.truncate(2)),
    ),
    (
        "replies_at_once_are_each_told_of",
        "what comes together goes by one id",
        Plant::Events(|events| {
            if let [first, .., last] = &mut events[..]
                && first.topic == last.topic
            {
                last.clone_from(first);
            }
        }),
    ),
    (
        "of_deletions_at_once_one_is_told_of",
        "deletions that race are all told of",
        Plant::DeletePost(Twist::Tells(|deleted, question| deleted.is_err() && question.racing)),
    ),
    (
        "of_votes_at_once_one_is_told_of",
        "votes that race are all told of",
        Plant::Vote(Twist::Tells(|voted, question| voted.is_err() && question.racing)),
    ),
];

fn twice(events: &mut Vec<Event>, topic: &Topic) {
    let told = events.iter().find(|event| event.topic == *topic);
    events.extend(told.cloned());
}
