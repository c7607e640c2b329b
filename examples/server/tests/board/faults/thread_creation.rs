//! Threads that are started.

use forum_api::host::Refusal;

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "a_thread_is_started_with_its_first_post",
        "a new thread counts its first post as a reply",
        Plant::StartThread(Twist::Granted(|thread, _| thread.reply_count = 1)),
    ),
    (
        "an_empty_title_or_body_is_invalid",
        "an empty title becomes the body",
        Plant::StartThread(Twist::Ask(|question| {
            let new = &mut question.it.1;
            if new.title.trim().is_empty() {
                new.title = new.body.clone();
            }
        })),
    ),
    (
        "an_empty_title_or_body_is_invalid",
        "an invalid value names another field",
        Plant::StartThread(Twist::Refused(|refusal| {
            *refusal = Refusal::invalid("thread", "title or body: it is empty.");
        })),
    ),
    (
        "a_title_is_a_single_line",
        "a line break in a title becomes a blank",
        Plant::StartThread(Twist::Ask(|question| {
            let new = &mut question.it.1;
            new.title = new.title.replace('\n', " ");
        })),
    ),
    (
        "a_thread_is_started_with_its_first_post",
        "versions count from 0",
        Plant::StartThread(Twist::Granted(|thread, _| thread.version -= 1)),
    ),
];
