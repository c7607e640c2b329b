//! What callers are told that they may do, and what they may.

use forum_api::host::Refusal;

use super::plant::Plant;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "who_may_start_a_thread_is_told",
        "whoever sees a forum starts threads there",
        Plant::StartThread(Twist::Forced(|refusal, _| says(refusal, "start threads"))),
    ),
    (
        "a_guest_is_told_that_they_may_write_nowhere",
        "a guest is told what members may",
        Plant::Thread(Twist::Granted(|thread, question| {
            thread.can_reply |= question.by.user().is_none();
        })),
    ),
    (
        "who_may_not_write_is_forbidden",
        "whoever sees a thread replies there",
        Plant::Reply(Twist::Forced(|refusal, _| says(refusal, "may not reply"))),
    ),
    (
        "who_may_not_write_is_forbidden",
        "everybody is told that they may reply",
        Plant::Thread(Twist::Granted(|thread, _| thread.can_reply = true)),
    ),
    (
        "a_locked_thread_takes_replies_of_moderators_alone",
        "a lock is not taken away",
        Plant::SetLocked(Twist::Ask(|question| question.it.1 = true)),
    ),
    (
        "a_locked_thread_takes_replies_of_moderators_alone",
        "a lock is ignored",
        Plant::Reply(Twist::Forced(|refusal, _| says(refusal, "locked"))),
    ),
    (
        "who_may_not_write_is_forbidden",
        "a write asks nobody where it is",
        Plant::ForumOf(Twist::Made(|_| Err(Refusal::Absent))),
    ),
];
