//! The board's rules on polls: pure functions of values.

use std::collections::HashSet;
use std::hash::Hash;

use forum_api::host::{Refusal, Result};
use forum_api::model::{EditOption, EditPoll, NewPoll, OptionId, Poll, Timestamp, Vote};
use serde::Serialize;

use super::super::rules::line;
use super::super::texts::{Texts, fill};

/// What a poll is to be, found good.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// What it asks.
    pub question: &'a str,
    /// All options, in order; `None` leaves them as they are.
    pub options: Option<Vec<Choice<'a>>>,
    /// How many options one vote may name.
    pub max_choices: i64,
    /// Whether a vote may be changed.
    pub can_change_vote: bool,
    /// When it closes by itself.
    pub closes_at: Option<Timestamp>,
}

/// An option to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Choice<'a> {
    /// The one that it is already; `None` for a new one.
    pub id: Option<i64>,
    /// What it says.
    pub text: &'a str,
}

/// How much a poll may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many characters the question may have, and each option.
    pub text: u32,
    /// How many options.
    pub options: u32,
}

/// What somebody is to a poll.
#[derive(Clone, Copy, Debug)]
pub struct Editor {
    /// The one who wrote it.
    pub writer: bool,
    /// A moderator of its forum.
    pub moderator: bool,
}

/// A poll for a new thread.
pub fn new<'a>(
    poll: &'a NewPoll,
    limits: Limits,
    now: Timestamp,
    say: &Texts,
) -> Result<Draft<'a>> {
    let texts = poll.options.iter();
    let choices = texts.map(|text| Ok(Choice { id: None, text }));
    let choices = self::choices(choices, limits, say)?;
    if poll.closes_at.is_some_and(|end| end <= now) {
        return Err(Refusal::Invalid(say.polls.ends_in_the_past.into()));
    }
    Ok(Draft {
        question: question(&poll.question, limits, say)?,
        max_choices: max_choices(poll.max_choices, choices.len(), say)?,
        options: Some(choices),
        can_change_vote: poll.can_change_vote,
        closes_at: poll.closes_at,
    })
}

/// A poll as an edit makes it.
pub fn edited<'a>(
    poll: &'a Poll,
    edit: &'a EditPoll,
    limits: Limits,
    say: &Texts,
) -> Result<Draft<'a>> {
    let asked = edit.question.as_deref();
    let asked = asked.map(|text| question(text, limits, say)).transpose()?;
    let options = edit.options.as_ref().map(|options| {
        let choices = options.iter().map(|option| choice(poll, option, say));
        self::choices(choices, limits, say)
    });
    let options = options.transpose()?;
    let count = options.as_ref().map_or(poll.options.len(), Vec::len);
    let most = edit.max_choices.unwrap_or(poll.max_choices.into());
    Ok(Draft {
        question: asked.unwrap_or(&poll.question),
        max_choices: max_choices(most, count, say)?,
        options,
        can_change_vote: edit.can_change_vote.unwrap_or(poll.can_change_vote),
        closes_at: edit.closes_at.unwrap_or(poll.closes_at),
    })
}

fn question<'a>(text: &'a str, limits: Limits, say: &Texts) -> Result<&'a str> {
    let (missing, too_long) = (say.polls.question_missing, say.polls.question_too_long);
    line(text, limits.text, missing, too_long)
}

fn choice<'a>(poll: &Poll, option: &'a EditOption, say: &Texts) -> Result<Choice<'a>> {
    let id = option.option_id.as_ref();
    Ok(Choice {
        id: id.map(|id| known(poll, id, say)).transpose()?,
        text: &option.text,
    })
}

/// The choices without the blanks around them, if they are 2 to as many as are allowed, and all differ.
fn choices<'a>(
    choices: impl Iterator<Item = Result<Choice<'a>>>,
    limits: Limits,
    say: &Texts,
) -> Result<Vec<Choice<'a>>> {
    let (missing, too_long) = (say.polls.option_missing, say.polls.option_too_long);
    let trimmed = choices.map(|choice| {
        let Choice { id, text } = choice?;
        let text = line(text, limits.text, missing, too_long)?;
        Ok(Choice { id, text })
    });
    let choices = trimmed.collect::<Result<Vec<_>>>()?;
    if choices.len() < 2 {
        return Err(Refusal::Invalid(say.polls.too_few_options.into()));
    }
    if choices.len() > limits.options as usize {
        let many = fill(say.polls.too_many_options, limits.options);
        return Err(Refusal::Invalid(many));
    }
    let differ = all_differ(choices.iter().map(|choice| choice.text))
        && all_differ(choices.iter().filter_map(|choice| choice.id));
    differ
        .then_some(choices)
        .ok_or_else(|| Refusal::Invalid(say.polls.option_doubled.into()))
}

fn max_choices(most: i64, options: usize, say: &Texts) -> Result<i64> {
    let possible = usize::try_from(most).is_ok_and(|most| (1..=options).contains(&most));
    possible
        .then_some(most)
        .ok_or_else(|| Refusal::Invalid(fill(say.polls.max_choices, options)))
}

/// Whether somebody may edit a poll in such a thread.
pub fn may_edit(editor: Editor, locked: bool, say: &Texts) -> Result<()> {
    let obstacle = match editor {
        Editor {
            moderator: true, ..
        } => None,
        Editor { writer: false, .. } => Some(say.polls.may_not_edit),
        _ => locked.then_some(say.locked),
    };
    obstacle.map_or(Ok(()), |text| Err(Refusal::Forbidden(text.into())))
}

/// Whether an edit meets the poll that it was made for.
pub fn is_current(poll: &Poll, edit: &EditPoll, say: &Texts) -> Result<()> {
    let current = edit
        .expected_version
        .is_none_or(|version| version == poll.version);
    current
        .then_some(())
        .ok_or_else(|| Refusal::Conflict(say.polls.changed.into()))
}

/// Whether the options may become these: for its writer while nobody has voted, for a moderator always.
pub fn may_become(poll: &Poll, draft: &Draft<'_>, moderator: bool, say: &Texts) -> Result<()> {
    let free = moderator || poll.total_votes == 0;
    let stay = draft.options.as_ref().is_none_or(|options| {
        let are = poll.options.iter();
        let are = are.map(|option| (option.option_id.number().ok(), option.text.as_str()));
        are.eq(options.iter().map(|choice| (choice.id, choice.text)))
    });
    (free || stay)
        .then_some(())
        .ok_or_else(|| Refusal::Conflict(say.polls.options_stand.into()))
}

/// The options that a vote names, if its voter may vote so now.
pub fn vote(poll: &Poll, vote: &Vote, say: &Texts) -> Result<Vec<i64>> {
    if poll.closed {
        return Err(Refusal::Forbidden(say.polls.closed.into()));
    }
    if poll.own_vote.is_some() && !poll.can_change_vote {
        return Err(Refusal::Conflict(say.polls.voted_already.into()));
    }
    let named = vote.option_ids.iter().map(|id| known(poll, id, say));
    let named = named.collect::<Result<Vec<_>>>()?;
    if named.is_empty() {
        return Err(Refusal::Invalid(say.polls.vote_missing.into()));
    }
    if !all_differ(named.iter()) {
        return Err(Refusal::Invalid(say.polls.choice_doubled.into()));
    }
    (named.len() <= poll.max_choices as usize)
        .then_some(named)
        .ok_or_else(|| Refusal::Invalid(fill(say.polls.too_many_choices, poll.max_choices)))
}

fn known(poll: &Poll, id: &OptionId, say: &Texts) -> Result<i64> {
    let is_here = poll.options.iter().any(|option| option.option_id == *id);
    let number = id.number().ok().filter(|_| is_here);
    number.ok_or_else(|| Refusal::NotFound(say.polls.no_such_option.into()))
}

fn all_differ<T: Eq + Hash>(items: impl Iterator<Item = T>) -> bool {
    let mut seen = HashSet::new();
    items.into_iter().all(|item| seen.insert(item))
}
