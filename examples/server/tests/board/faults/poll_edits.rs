//! Edits of polls.

use std::time::Duration;

use forum_api::host::Refusal;
use forum_api::model::{EditPoll, Timestamp};

use super::edits::moderated;
use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "its_writer_and_moderators_edit_a_poll",
        "whoever sees a poll edits it",
        Plant::EditPoll(Twist::Forced(|refusal, _| says(refusal, "its writer"))),
    ),
    (
        "a_locked_threads_poll_is_a_moderators",
        "the poll of a locked thread is edited",
        Plant::EditPoll(Twist::Forced(|refusal, _| says(refusal, "locked"))),
    ),
    (
        "an_edit_is_decided_when_it_is_made",
        "who moderated when the request came in edits",
        Plant::EditPoll(Twist::Forced(|_, question| moderated(&question.by))),
    ),
    (
        "what_an_edit_leaves_out_stays",
        "an edit that leaves the end out takes it away",
        Plant::EditPoll(Twist::Ask(|question| {
            question.it.1.closes_at.get_or_insert(None);
        })),
    ),
    (
        "what_an_edit_leaves_out_stays",
        "an edit that leaves the question out asks nothing",
        Plant::EditPoll(Twist::Granted(|poll, question| {
            if question.it.1.question.is_none() {
                poll.it.question.clear();
            }
        })),
    ),
    (
        "options_that_were_voted_for_are_a_moderators",
        "the writer changes options that were voted for",
        Plant::EditPoll(Twist::Forced(|refusal, question| {
            says(refusal, "vote was cast") && question.it.1.options.is_some()
        })),
    ),
    (
        "a_question_that_was_voted_on_is_a_moderators",
        "the writer changes a question that was voted on",
        Plant::EditPoll(Twist::Forced(|refusal, question| {
            says(refusal, "vote was cast") && question.it.1.question.is_some()
        })),
    ),
    (
        "choices_that_were_made_are_a_moderators",
        "the writer allows fewer choices than were made",
        Plant::EditPoll(Twist::Forced(|refusal, _| says(refusal, "vote names"))),
    ),
    (
        "a_removed_option_takes_its_votes",
        "new options come last",
        Plant::EditPoll(Twist::Ask(|question| {
            if let Some(options) = &mut question.it.1.options {
                options.sort_by_key(|option| option.option_id.is_none());
            }
        })),
    ),
    (
        "a_removed_option_takes_its_votes",
        "every option is a new one",
        Plant::EditPoll(Twist::Ask(|question| {
            let options = question.it.1.options.iter_mut().flatten();
            options.for_each(|option| option.option_id = None);
        })),
    ),
    (
        "a_refused_edit_changes_nothing",
        "the options are changed before the rest is judged",
        Plant::EditPoll(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((poll, edit), by) = (question.it.clone(), member(&question.by)?);
                let mut first = EditPoll::default();
                first.options.clone_from(&edit.options);
                let edited = sound.board.edit_poll(by, poll.clone(), edit).await;
                if edited.is_err() && first.options.is_some() {
                    drop(sound.board.edit_poll(by, poll, first).await);
                }
                edited
            })
        })),
    ),
    (
        "an_end_is_set_and_taken_away",
        "null is as if the end was left out",
        Plant::EditPoll(Twist::Ask(|question| {
            let edit = &mut question.it.1;
            edit.closes_at.take_if(|end| end.is_none());
        })),
    ),
    (
        "an_end_is_set_and_taken_away",
        "an end in the past is refused",
        Plant::EditPoll(Twist::Answer(|poll, question| {
            let past = Timestamp::from_millis(1_767_225_600_000).plus(Duration::from_secs(60));
            if question.it.1.closes_at.flatten().is_some_and(|end| end < past) {
                *poll = Err(Refusal::invalid("closesAt", "it is over"));
            }
        })),
    ),
    (
        "a_stale_edit_is_a_conflict",
        "the version that is expected is ignored",
        Plant::EditPoll(Twist::Ask(|question| question.it.1.expected_version = None)),
    ),
];
