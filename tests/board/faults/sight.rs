//! What is shown to the wrong ones, or not to the right ones.

use forum_api::host::Refusal;
use forum_api::model::{State, UserId, UserRef};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "hidden forums are listed",
        Plant::SeesAll("forums"),
        "visibility::each_audience_sees_its_forums_and_no_other",
    ),
    (
        "the forums that only guests see are hidden from members",
        Plant::Forums(|forums, _| forums.clear()),
        "visibility::what_guests_see_every_member_sees",
    ),
    (
        "a hidden thread is shown",
        Plant::SeesAll("thread"),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "a hidden thread is shown to guests",
        Plant::SeesAll("thread"),
        "visibility::a_hidden_thread_is_absent_for_the_guest",
    ),
    (
        "the posts of a hidden thread are shown",
        Plant::SeesAll("posts"),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "a waiting reply is shown to all",
        Plant::SeesAll("posts"),
        "visibility::a_waiting_reply_is_for_its_author_and_moderators",
    ),
    (
        "a waiting thread is listed to all",
        Plant::SeesAll("threads"),
        "visibility::a_waiting_thread_is_for_its_author_and_moderators",
    ),
    (
        "a waiting reply is hidden from its author",
        Plant::Posts(|page, _| {
            if let Ok(page) = page {
                page.it.items.retain(|post| post.state == State::Visible);
            }
        }),
        "visibility::a_waiting_reply_is_for_its_author_and_moderators",
    ),
    (
        "what is hidden is forbidden, and so is known to be there",
        Plant::Thread(|thread| {
            if let Err(refusal) = thread {
                *refusal = Refusal::Forbidden("Not for you.".into());
            }
        }),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "an id that is no number is a failure",
        Plant::Thread(|thread| {
            if let Err(refusal) = thread {
                *refusal = Refusal::failed("no number");
            }
        }),
        "visibility::what_no_id_names_is_absent",
    ),
    (
        "a write asks nobody where it is",
        Plant::ForumOf(|forum| *forum = Err(Refusal::Absent)),
        "replies::a_reply_is_the_last_of_its_thread_at_once",
    ),
    (
        "what is hidden is forbidden behind the API, too",
        Plant::Thread(|thread| {
            if let Err(refusal) = thread {
                *refusal = Refusal::Forbidden("Not for you.".into());
            }
        }),
        "service::hidden_and_absent_are_the_same_bytes",
    ),
    (
        "nobody is found by a name in a path",
        Plant::AskProfile(|user| {
            if let UserRef::Name(_) = user {
                *user = UserRef::Id(UserId::from(0));
            }
        }),
        "service::reads_are_answered_to_members_and_guests",
    ),
];
