//! Soft deletion.

use forum_api::host::Refusal;
use forum_api::model::State;

use super::plant::Plant;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "a_deleted_post_is_for_moderators",
        "to delete again is to delete",
        Plant::DeletePost(Twist::Repeats(|refusal, question| {
            !question.racing && matches!(refusal, Refusal::Absent | Refusal::Conflict(_))
        })),
    ),
    (
        "a_deleted_post_is_for_moderators",
        "an author goes on seeing what was deleted",
        Plant::Posts(Twist::AsRoot),
    ),
    (
        "authors_and_moderators_delete_replies",
        "whoever sees a reply deletes it",
        Plant::DeletePost(Twist::Forced(|refusal, _| says(refusal, "its author"))),
    ),
    (
        "moderators_delete_threads",
        "authors delete their threads",
        Plant::DeletePost(Twist::Forced(|refusal, _| says(refusal, "delete a thread"))),
    ),
    (
        "moderators_delete_threads",
        "a deleted thread stays in the list",
        Plant::Threads(Twist::AsRoot),
    ),
    (
        "moderators_delete_threads",
        "a deleted thread is absent for moderators, too",
        Plant::Thread(Twist::Answer(|thread, _| {
            if matches!(thread, Ok(thread) if thread.state == State::Deleted) {
                *thread = Err(Refusal::Absent);
            }
        })),
    ),
    (
        "deleted_content_is_in_no_forum",
        "every caller finds the forum of deleted content",
        Plant::ForumOf(Twist::AsRoot),
    ),
    (
        "nobody_replies_in_a_deleted_thread",
        "a moderator's reply in a deleted thread is lost",
        Plant::Reply(Twist::Repeats(|refusal, _| says(refusal, "hidden"))),
    ),
    (
        "one_of_many_deletions_is_made",
        "deletions that race are all made",
        Plant::DeletePost(Twist::Repeats(|_, question| question.racing)),
    ),
    (
        "nobody_changes_what_is_deleted",
        "whoever knows a hidden post edits it",
        Plant::EditPost(Twist::Forced(|refusal, _| {
            matches!(refusal, Refusal::Absent | Refusal::Conflict(_))
        })),
    ),
    (
        "numbers_stay",
        "numbers are places in the list",
        Plant::Posts(Twist::Granted(|page, _| {
            for (place, post) in (1..).zip(&mut page.it.items) {
                post.number = place;
            }
        })),
    ),
];
