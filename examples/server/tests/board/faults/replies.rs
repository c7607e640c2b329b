//! Replies.

use forum_api::host::Refusal;

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "a_body_is_kept_as_it_was_typed",
        "empty lines are lost",
        Plant::Reply(Twist::Ask(|question| {
            let reply = &mut question.it.1;
            reply.body = reply.body.replace("\n\n", "\n");
        })),
    ),
    (
        "what_people_type_does_not_run",
        "HTML is what was typed",
        Plant::Reply(Twist::Granted(|post, _| post.it.body_html = post.it.body.clone())),
    ),
    (
        "a_reply_is_the_last_of_its_thread_at_once",
        "the last post is the first",
        Plant::Thread(Twist::Granted(|thread, _| {
            let first = thread.first_post_id.clone();
            thread.last_post.as_mut().unwrap().post_id = first;
        })),
    ),
    (
        "an_empty_body_is_invalid",
        "an empty body becomes a dash",
        Plant::Reply(Twist::Ask(|question| {
            let reply = &mut question.it.1;
            if reply.body.trim().is_empty() {
                reply.body = "-".into();
            }
        })),
    ),
    (
        "an_empty_body_is_invalid",
        "an empty body is a conflict",
        Plant::Reply(Twist::Refused(|refusal| {
            *refusal = Refusal::Conflict("body: it is empty".into());
        })),
    ),
    (
        "replies_at_once_are_all_there",
        "replies at once are counted once",
        Plant::Thread(Twist::Granted(|thread, _| {
            thread.reply_count = thread.reply_count.min(1);
        })),
    ),
    (
        "a_new_reply_is_as_it_was_written",
        "a new reply was edited when it was written",
        Plant::Reply(Twist::Granted(|post, _| post.it.edited_at = Some(post.it.created_at))),
    ),
];
