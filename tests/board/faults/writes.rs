//! What is written, and what is refused.

use forum_api::host::Refusal;

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "a lock is ignored",
        Plant::Forces(|refusal, _| matches!(refusal, Refusal::Forbidden(_))),
        "permission::a_locked_thread_takes_replies_of_moderators_alone",
    ),
    (
        "whoever sees a forum starts threads there",
        Plant::Forces(|refusal, _| matches!(refusal, Refusal::Forbidden(_))),
        "permission::who_may_start_a_thread_is_told",
    ),
    (
        "a write decides on the standing with which its request began",
        Plant::Forces(|refusal, covered| covered && matches!(refusal, Refusal::Absent)),
        "standing::a_write_under_way_loses_what_is_hidden_meanwhile",
    ),
    (
        "a write of one who was banned meanwhile is carried out",
        Plant::Forces(|refusal, _| matches!(refusal, Refusal::Forbidden(_))),
        "standing::a_write_under_way_ends_with_a_ban",
    ),
    (
        "an empty body becomes a dash",
        Plant::AskReply(|reply| {
            if reply.body.trim().is_empty() {
                reply.body = "-".into();
            }
        }),
        "replies::an_empty_body_is_invalid",
    ),
    (
        "an empty title becomes the body",
        Plant::AskStart(|new| {
            if new.title.trim().is_empty() {
                new.title = new.body.clone();
            }
        }),
        "starting::an_empty_title_or_body_is_invalid",
    ),
    (
        "what is invalid does not say which field",
        Plant::Start(|thread| {
            if let Err(Refusal::Invalid(text)) = thread {
                *text = "Something is missing.".into();
            }
        }),
        "starting::an_empty_title_or_body_is_invalid",
    ),
    (
        "an empty body is a conflict",
        Plant::Reply(|post| {
            if let Err(refusal @ Refusal::Invalid(_)) = post {
                *refusal = Refusal::Conflict("body: it is empty".into());
            }
        }),
        "replies::an_empty_body_is_invalid",
    ),
    (
        "a body is trimmed, and read again otherwise",
        Plant::AskReply(|reply| reply.body = reply.body.replace("\n\n", "\n")),
        "replies::a_body_is_kept_as_it_was_typed",
    ),
    (
        "HTML is what was typed",
        Plant::Reply(|post| {
            if let Ok(post) = post {
                post.it.body_html = post.it.body.clone();
            }
        }),
        "replies::what_people_type_does_not_run",
    ),
    (
        "a write asks for no sight",
        Plant::Forces(|refusal, _| matches!(refusal, Refusal::Absent)),
        "visibility::nobody_writes_where_they_see_nothing",
    ),
    (
        "what may not be replied to is absent",
        Plant::Reply(|post| {
            if let Err(refusal @ Refusal::Forbidden(_)) = post {
                *refusal = Refusal::Absent;
            }
        }),
        "visibility::a_waiting_thread_takes_no_replies",
    ),
    (
        "a moderator of one forum moderates all",
        Plant::Forces(|refusal, _| matches!(refusal, Refusal::Forbidden(_))),
        "standing::a_moderator_is_one_of_one_forum_while_it_lasts",
    ),
    (
        "a new thread counts its first post as a reply",
        Plant::Start(|thread| thread.iter_mut().for_each(|thread| thread.reply_count = 1)),
        "starting::a_thread_is_started_with_its_first_post",
    ),
    (
        "replies at once are counted once",
        Plant::Thread(|thread| {
            thread
                .iter_mut()
                .for_each(|thread| thread.reply_count = thread.reply_count.min(1));
        }),
        "replies::replies_at_once_are_all_there",
    ),
];
