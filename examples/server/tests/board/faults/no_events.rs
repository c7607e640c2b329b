//! What is not told of.

use forum_api::model::State;

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "what_awaits_approval_is_silent",
        "an edit of what awaits approval is told of",
        Plant::EditPost(Twist::Tells(|edited, _| {
            edited.as_ref().is_ok_and(|post| post.it.state == State::AwaitingApproval)
        })),
    ),
    (
        "what_awaits_approval_is_silent",
        "what awaits approval is told of at once",
        Plant::StartThread(Twist::Tells(|started, _| {
            started.as_ref().is_ok_and(|thread| thread.state == State::AwaitingApproval)
        })),
    ),
    (
        "a_poll_that_awaits_approval_is_silent",
        "every vote is told of",
        Plant::Vote(Twist::Tells(|voted, _| voted.is_ok())),
    ),
    (
        "reading_a_message_is_silent",
        "everybody is told that a message was read",
        Plant::Message(Twist::Tells(|message, _| message.is_ok())),
    ),
    (
        "following_is_silent",
        "everybody is told who follows what",
        Plant::Follow(Twist::Tells(|followed, _| followed.is_ok())),
    ),
    (
        "a_refused_post_is_silent",
        "a refused thread is told of",
        Plant::StartThread(Twist::Tells(|started, _| started.is_err())),
    ),
    (
        "a_refused_post_is_silent",
        "a refused reply is told of",
        Plant::Reply(Twist::Tells(|reply, _| reply.is_err())),
    ),
    (
        "a_refused_edit_is_silent",
        "a refused edit is told of",
        Plant::EditPost(Twist::Tells(|edited, _| edited.is_err())),
    ),
    (
        "a_refused_deletion_is_silent",
        "a refused deletion is told of",
        Plant::DeletePost(Twist::Tells(|deleted, _| deleted.is_err())),
    ),
    (
        "a_refused_vote_is_silent",
        "a refused vote is told of",
        Plant::Vote(Twist::Tells(|voted, _| voted.is_err())),
    ),
    (
        "a_refused_vote_is_silent",
        "a refused edit of a poll is told of",
        Plant::EditPoll(Twist::Tells(|edited, _| edited.is_err())),
    ),
    (
        "a_refused_rating_is_silent",
        "a refused rating is told of",
        Plant::Rate(Twist::Tells(|rated, _| rated.is_err())),
    ),
    (
        "a_refused_message_is_silent",
        "a message that nobody got is told of",
        Plant::SendMessage(Twist::Tells(|sent, _| sent.is_err())),
    ),
];
