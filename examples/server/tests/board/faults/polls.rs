//! Polls.

use forum_api::host::{In, Refusal, Result};
use forum_api::model::{Poll, State, ThreadId};

use super::plant::Plant;
use super::sound::{Sound, member};
use super::twist::{Question, Twist};
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "a_poll_comes_with_its_thread",
        "a thread does not tell of its poll",
        Plant::Thread(Twist::Granted(|thread, _| thread.poll_id = None)),
    ),
    (
        "a_refused_poll_leaves_no_thread",
        "a thread is started before its poll is judged",
        Plant::StartThread(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((forum, new), by) = (question.it.clone(), member(&question.by)?);
                let started = sound.board.start_thread(by, forum.clone(), new.clone()).await;
                if started.is_err() {
                    let mut bare = new;
                    bare.poll = None;
                    sound.board.start_thread(by, forum, bare).await?;
                }
                started
            })
        })),
    ),
    (
        "a_hidden_threads_poll_is_absent",
        "the poll of a hidden thread is shown",
        Plant::Poll(Twist::Forced(|_, question| {
            question.by.standing().forums().is_empty()
        })),
    ),
    (
        "a_hidden_threads_poll_is_absent",
        "in a hidden thread is voted",
        Plant::Vote(Twist::Forced(|_, question| {
            question.by.standing().forums().is_empty()
        })),
    ),
    (
        "a_guest_sees_polls",
        "a guest sees no poll",
        Plant::Poll(Twist::Answer(|poll, question| {
            if question.by.user().is_none() {
                *poll = Err(Refusal::Absent);
            }
        })),
    ),
    (
        "a_guest_sees_polls",
        "a guest sees an empty vote as their own",
        Plant::Poll(Twist::Granted(|poll, question| {
            if question.by.user().is_none() {
                poll.it.own_vote.get_or_insert_default();
            }
        })),
    ),
    (
        "an_unknown_poll_is_absent",
        "an unknown poll is not found, as if the body had named it",
        Plant::EditPoll(Twist::Refused(|refusal| {
            if let Refusal::Absent = refusal {
                *refusal = Refusal::NotFound("There is no such poll.".into());
            }
        })),
    ),
    (
        "a_poll_awaits_approval_with_its_thread",
        "the poll of a thread that awaits approval is shown to all",
        Plant::Poll(Twist::Instead(|sound, question| {
            Box::pin(shown_in(State::AwaitingApproval, sound, question))
        })),
    ),
    (
        "a_poll_is_deleted_with_its_thread",
        "the poll of a deleted thread is shown to all",
        Plant::Poll(Twist::Instead(|sound, question| {
            Box::pin(shown_in(State::Deleted, sound, question))
        })),
    ),
    (
        "a_poll_is_deleted_with_its_thread",
        "a vote in a deleted thread is answered as if it counted",
        Plant::Vote(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((poll, vote), by) = (question.it.clone(), member(&question.by)?);
                match sound.board.vote(by, poll, vote).await {
                    Err(refusal) if says(&refusal, "is deleted") => {
                        sound.board.poll(&sound.root().await?, 1.into()).await
                    }
                    answer => answer,
                }
            })
        })),
    ),
    (
        "a_poll_closes_by_itself",
        "votes are counted after the end",
        Plant::Vote(Twist::Repeats(|refusal, _| says(refusal, "closed"))),
    ),
    (
        "a_poll_closes_by_itself",
        "a closed poll does not say so",
        Plant::Poll(Twist::Granted(|poll, _| poll.it.closed = false)),
    ),
];

/// The poll of a thread that is in this state, whoever asks.
async fn shown_in(
    state: State,
    sound: &Sound,
    question: &Question<(ThreadId,)>,
) -> Result<In<Poll>> {
    let (thread,) = question.it.clone();
    let by = match sound.thread(&thread).await?.state == state {
        true => sound.root().await?,
        false => question.by.clone(),
    };
    sound.board.poll(&by, thread).await
}
