//! Votes.

use forum_api::host::Refusal;
use serde_json::json;

use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "a_vote_counts_and_is_its_voters_own",
        "the answer to a vote does not tell it",
        Plant::Vote(Twist::Granted(|poll, _| poll.it.own_vote = None)),
    ),
    (
        "a_vote_for_several_is_one_voters",
        "voters are counted by their choices",
        Plant::Vote(Twist::Granted(|poll, _| {
            poll.it.total_votes = poll.it.options.iter().map(|option| option.votes).sum();
        })),
    ),
    (
        "a_vote_stands",
        "a second vote is granted, and lost",
        Plant::Vote(Twist::Repeats(|refusal, question| {
            !question.racing && matches!(refusal, Refusal::Conflict(_))
        })),
    ),
    (
        "a_vote_can_be_changed_where_the_poll_says_so",
        "no poll lets votes be changed",
        Plant::StartThread(Twist::Ask(|question| {
            if let Some(poll) = &mut question.it.1.poll {
                poll.can_change_vote = false;
            }
        })),
    ),
    (
        "a_vote_names_what_can_be_chosen",
        "an option that is named twice counts once",
        Plant::Vote(Twist::Ask(|question| question.it.1.option_ids.dedup())),
    ),
    (
        "a_vote_names_what_can_be_chosen",
        "an option that is not there is invalid",
        Plant::Vote(Twist::Refused(|refusal| {
            if let Refusal::NotFound(text) = refusal {
                *refusal = Refusal::invalid("optionIds", text.clone());
            }
        })),
    ),
    (
        "of_many_votes_at_once_one_counts",
        "votes that race are all granted",
        Plant::Vote(Twist::Repeats(|_, question| question.racing)),
    ),
    (
        "a_locked_thread_takes_votes",
        "a locked thread takes no votes",
        Plant::Vote(Twist::Instead(|sound, question| {
            Box::pin(async {
                if sound.thread(&1.into()).await?.locked {
                    return Err(Refusal::Forbidden("It is locked.".into()));
                }
                let (poll, vote) = question.it.clone();
                sound.board.vote(member(&question.by)?, poll, vote).await
            })
        })),
    ),
    (
        "voting_takes_sight_alone",
        "who may not reply may not vote",
        Plant::Vote(Twist::Instead(|sound, question| {
            Box::pin(async {
                let thread = sound.board.thread(&question.by, 1.into()).await;
                if thread.is_ok_and(|thread| !thread.can_reply) {
                    return Err(Refusal::Forbidden("You may not reply.".into()));
                }
                let (poll, vote) = question.it.clone();
                sound.board.vote(member(&question.by)?, poll, vote).await
            })
        })),
    ),
    (
        "a_vote_is_decided_when_it_is_counted",
        "who saw the thread when the request came in votes",
        Plant::Vote(Twist::Forced(|refusal, question| {
            let saw = question.by.standing().forums().contains(&1.into());
            saw && matches!(refusal, Refusal::Absent)
        })),
    ),
    (
        "a_vote_outlives_its_account",
        "votes go with their account",
        Plant::RemoveAccount(Twist::Instead(|sound, question| {
            Box::pin(async {
                let root = sound.root().await?;
                let poll = sound.board.poll(&root, 1.into()).await?.it;
                let options = poll.options.into_iter().map(|option| json!({ "text": option.text }));
                let edit = json!({ "options": options.collect::<Vec<_>>() });
                let edit = serde_json::from_value(edit).unwrap();
                sound.board.edit_poll(member(&root)?, poll.poll_id, edit).await?;
                sound.set(sound.stage.remove_account(&question.it.0)).await
            })
        })),
    ),
    (
        "a_banned_member_votes_no_longer",
        "who was banned meanwhile votes",
        Plant::Vote(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
];
