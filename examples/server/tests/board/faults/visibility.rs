//! What is shown to the wrong ones, or not to the right ones.

use forum_api::host::Refusal;
use forum_api::model::State;

use super::plant::Plant;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "what_guests_see_every_member_sees",
        "the threads that members see are not listed to guests",
        Plant::Threads(Twist::Granted(|page, question| {
            if question.by.user().is_none() {
                page.items.clear();
            }
        })),
    ),
    (
        "each_audience_sees_its_forums_and_no_other",
        "hidden forums are listed to guests",
        Plant::Forums(Twist::Instead(|sound, question| {
            Box::pin(async {
                let by = match question.by.user() {
                    Some(_) => question.by.clone(),
                    None => sound.root().await?,
                };
                sound.board.forums(&by).await
            })
        })),
    ),
    (
        "a_hidden_thread_is_absent",
        "a hidden thread is shown",
        Plant::Thread(Twist::AsRoot),
    ),
    (
        "a_hidden_thread_is_absent",
        "the posts of a hidden thread are shown",
        Plant::Posts(Twist::Forced(|_, question| {
            question.by.standing().forums().is_empty()
        })),
    ),
    (
        "a_hidden_thread_is_absent",
        "what is hidden is forbidden, and so is known to be there",
        Plant::Thread(Twist::Refused(|refusal| {
            *refusal = Refusal::Forbidden("Not for you.".into());
        })),
    ),
    (
        "a_hidden_thread_is_absent_for_the_guest",
        "a hidden thread is shown to guests",
        Plant::Thread(Twist::Forced(|_, question| question.by.user().is_none())),
    ),
    (
        "nobody_writes_where_they_see_nothing",
        "a write asks for no sight",
        Plant::StartThread(Twist::Forced(|refusal, _| {
            matches!(refusal, Refusal::Absent)
        })),
    ),
    (
        "what_no_id_names_is_absent",
        "an id that is no number is a failure",
        Plant::Thread(Twist::Answer(|thread, question| {
            if question.it.0.number().is_err() {
                *thread = Err(Refusal::failed("no number"));
            }
        })),
    ),
    (
        "a_waiting_reply_is_for_its_author_and_moderators",
        "a waiting reply is shown to all",
        Plant::Posts(Twist::AsRoot),
    ),
    (
        "a_waiting_reply_is_for_its_author_and_moderators",
        "a waiting reply is hidden from its author",
        Plant::Posts(Twist::Granted(|page, _| {
            page.it.items.retain(|post| post.state == State::Visible);
        })),
    ),
    (
        "a_waiting_thread_is_for_its_author_and_moderators",
        "a waiting thread is listed to all",
        Plant::Threads(Twist::AsRoot),
    ),
    (
        "a_waiting_thread_is_for_its_author_and_moderators",
        "a waiting thread is absent for its author",
        Plant::Thread(Twist::Answer(|thread, _| {
            if matches!(thread, Ok(thread) if thread.state == State::AwaitingApproval) {
                *thread = Err(Refusal::Absent);
            }
        })),
    ),
    (
        "a_waiting_thread_takes_no_replies",
        "a thread that awaits approval is absent when its author replies",
        Plant::Reply(Twist::Refused(|refusal| {
            if says(refusal, "hidden") {
                *refusal = Refusal::Absent;
            }
        })),
    ),
];
