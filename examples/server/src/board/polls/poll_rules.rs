//! Rules on polls, votes and edits of polls.

use std::collections::HashSet;
use std::hash::Hash;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{
    ContentState, NewPoll, NewVote, OptionId, Poll, PollOptionUpdate, PollUpdate, Timestamp,
};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::board::access::groups::Groups;
use crate::board::access::permissions::ForumPermissions;
use crate::board::rules::{self, Denial, check_single_line, edited_state};
use crate::board::settings::{OPTIONS_MAX, SettingValues, TITLE_MAX};
use crate::board::texts::{Texts, fill};

/// A valid poll.
#[derive(Clone, Debug)]
pub struct PollDraft<'a> {
    pub question: &'a str,
    /// `None` leaves the options as they are.
    pub options: Option<Vec<PollChoice<'a>>>,
    pub max_choices: i64,
    pub can_change_vote: bool,
    pub closes_at: Option<Timestamp>,
}

/// An option of a valid poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PollChoice<'a> {
    /// `None` for a new option.
    pub id: Option<i64>,
    pub text: &'a str,
}

/// A body with a poll.
#[derive(Clone, Copy, Debug)]
enum PollBody {
    NewThread,
    Update,
}

impl PollBody {
    /// Returns the path of a field of the poll.
    fn field(self, name: &str) -> String {
        match self {
            Self::NewThread => format!("poll.{name}"),
            Self::Update => name.into(),
        }
    }

    /// Returns the path of the text of an option.
    fn option_text(self, index: usize) -> String {
        let suffix = match self {
            Self::NewThread => "",
            Self::Update => ".text",
        };
        format!("{}[{index}]{suffix}", self.field("options"))
    }
}

pub fn new<'a>(
    poll: &'a NewPoll,
    settings: &SettingValues,
    now: Timestamp,
    texts: &Texts,
) -> BoardResult<PollDraft<'a>> {
    let new_choices = poll.options.iter().map(|text| Ok(PollChoice { id: None, text }));
    let body = PollBody::NewThread;
    let choices = check_choices(body, new_choices, settings, texts)?;
    if poll.closes_at.is_some_and(|end| end <= now) {
        let error = BoardError::validation(body.field("closesAt"), texts.closes_at_in_the_past);
        return Err(error.with_reason("out_of_range"));
    }
    Ok(PollDraft {
        question: check_question(body, &poll.question, settings, texts)?,
        max_choices: check_max_choices(body, poll.max_choices, choices.len(), texts)?,
        options: Some(choices),
        can_change_vote: poll.can_change_vote,
        closes_at: poll.closes_at,
    })
}

pub fn apply_update<'a>(
    poll: &'a Poll,
    edit: &'a PollUpdate,
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<PollDraft<'a>> {
    let body = PollBody::Update;
    // A lowered limit does not refuse unchanged values.
    let asked = edit
        .question
        .as_deref()
        .filter(|text| !rules::is_unchanged(text, &poll.question))
        .map(|text| check_question(body, text, settings, texts))
        .transpose()?;
    let options = edit
        .options
        .as_ref()
        .filter(|options| !are_unchanged(options, poll))
        .map(|options| {
            let known = option_ids(poll);
            let choices = options
                .iter()
                .enumerate()
                .map(|(index, option)| read_choice(&known, index, option, texts));
            check_choices(body, choices, settings, texts)
        })
        .transpose()?;
    let count = options.as_ref().map_or(poll.options.len(), Vec::len);
    let most = edit.max_choices.unwrap_or(poll.max_choices.into());
    Ok(PollDraft {
        question: asked.unwrap_or(&poll.question),
        max_choices: check_max_choices(body, most, count, texts)?,
        options,
        can_change_vote: edit.can_change_vote.unwrap_or(poll.can_change_vote),
        closes_at: edit.closes_at.apply(poll.closes_at),
    })
}

/// Returns whether these are the options of the poll.
fn are_unchanged(options: &[PollOptionUpdate], poll: &Poll) -> bool {
    options.len() == poll.options.len()
        && options.iter().zip(&poll.options).all(|(edited, current)| {
            edited.option_id.as_ref() == Some(&current.option_id)
                && rules::is_unchanged(&edited.text, &current.text)
        })
}

fn check_question<'a>(
    body: PollBody,
    text: &'a str,
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<&'a str> {
    check_single_line(
        body.field("question"),
        text,
        settings.of(&TITLE_MAX),
        texts.question_missing,
        texts.question_too_long,
        texts,
    )
}

fn read_choice<'a>(
    known: &HashSet<&OptionId>,
    index: usize,
    option: &'a PollOptionUpdate,
    texts: &Texts,
) -> BoardResult<PollChoice<'a>> {
    let number = |id| {
        let field = || format!("options[{index}].optionId");
        option_number(known, id, texts).map_err(|error| error.with_field(field()))
    };
    Ok(PollChoice { id: option.option_id.as_ref().map(number).transpose()?, text: &option.text })
}

/// Trims and checks the options: at least 2, at most the maximum, all different.
fn check_choices<'a>(
    body: PollBody,
    choices: impl Iterator<Item = BoardResult<PollChoice<'a>>>,
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<Vec<PollChoice<'a>>> {
    let length = settings.of(&TITLE_MAX);
    let trimmed = choices.enumerate().map(|(index, choice)| {
        let PollChoice { id, text } = choice?;
        let text = check_single_line(
            body.option_text(index),
            text,
            length,
            texts.option_missing,
            texts.option_too_long,
            texts,
        )?;
        Ok(PollChoice { id, text })
    });
    let checked = trimmed.collect::<BoardResult<Vec<_>>>()?;
    let of_options = |text: String| BoardError::validation(body.field("options"), text);
    if checked.len() < 2 {
        return Err(of_options(texts.too_few_options.into()).with_reason("required"));
    }
    let most = settings.of(&OPTIONS_MAX);
    if checked.len() as i64 > most {
        return Err(of_options(fill(texts.too_many_options, most)).with_reason("too_long"));
    }
    let repeated_text =
        first_repeated(checked.iter().map(|choice| choice.text.nfc().collect::<String>()));
    let field = match repeated_text {
        Some(index) => Some(body.option_text(index)),
        None => {
            let ids = checked.iter().enumerate().map(|(index, choice)| choice.id.ok_or(index));
            first_repeated(ids).map(|index| body.field(&format!("options[{index}].optionId")))
        }
    };
    if let Some(field) = field {
        let error = BoardError::validation(field, texts.duplicate_option);
        return Err(error.with_reason("duplicate"));
    }
    Ok(checked)
}

fn check_max_choices(body: PollBody, most: i64, options: usize, texts: &Texts) -> BoardResult<i64> {
    if !usize::try_from(most).is_ok_and(|most| (1..=options).contains(&most)) {
        let error =
            BoardError::validation(body.field("maxChoices"), fill(texts.max_choices, options));
        return Err(error.with_reason("out_of_range"));
    }
    Ok(most)
}

/// Refuses votes and edits in a deleted thread, also those of moderators.
pub fn check_not_deleted(state: ContentState, texts: &Texts) -> BoardResult<()> {
    match state {
        ContentState::Deleted => {
            Err(BoardError::forbidden(texts.poll_thread_deleted).with_reason("closed"))
        }
        _ => Ok(()),
    }
}

/// Checks whether this member may edit a poll.
pub fn check_may_edit(
    access: ForumPermissions,
    is_writer: bool,
    locked: bool,
    texts: &Texts,
) -> BoardResult<()> {
    let denial = match access {
        ForumPermissions { reply: false, .. } => {
            Some(Denial::forbidden(|texts| texts.may_not_edit, "not_allowed"))
        }
        ForumPermissions { moderate: true, .. } => None,
        _ if !is_writer => Some(Denial::forbidden(|texts| texts.poll_may_not_edit, "not_allowed")),
        _ if locked => Some(Denial::forbidden(|texts| texts.locked, "locked")),
        _ => None,
    };
    denial.map_or(Ok(()), |denial| Err(denial.error(texts)))
}

/// Refuses some changes by the writer of a poll that has votes: another question, other options, and a `maxChoices` that
/// is lowered below `largest_vote`. `largest_vote` is the largest number of options in one vote. Moderators may make
/// these changes.
pub fn check_writers_edit(
    poll: &Poll,
    draft: &PollDraft<'_>,
    largest_vote: i64,
    texts: &Texts,
) -> BoardResult<()> {
    let has_votes = largest_vote > 0;
    if has_votes && !has_same_texts(poll, draft) {
        return Err(BoardError::conflict(texts.options_have_votes).with_reason("has_votes"));
    }
    if draft.max_choices < largest_vote.min(poll.max_choices.into()) {
        let error = BoardError::conflict(fill(texts.max_choices_below_votes, largest_vote));
        return Err(error.with_reason("has_votes").with_field("maxChoices"));
    }
    Ok(())
}

/// Refuses another question and other options in a visible thread, if the content of this member awaits approval.
pub fn check_newcomers_edit(
    poll: &Poll,
    draft: &PollDraft<'_>,
    state: ContentState,
    groups: Groups,
    texts: &Texts,
) -> BoardResult<()> {
    let may_publish = edited_state(state, groups) == state;
    if !may_publish && !has_same_texts(poll, draft) {
        return Err(BoardError::forbidden(texts.poll_needs_approval).with_reason("not_allowed"));
    }
    Ok(())
}

/// Returns whether an edit leaves the poll as it is.
pub fn is_unchanged(poll: &Poll, draft: &PollDraft<'_>) -> bool {
    has_same_texts(poll, draft)
        && draft.max_choices == i64::from(poll.max_choices)
        && draft.can_change_vote == poll.can_change_vote
        && draft.closes_at == poll.closes_at
}

fn has_same_texts(poll: &Poll, draft: &PollDraft<'_>) -> bool {
    draft.options.is_none() && draft.question == poll.question
}

/// Returns the options of a vote, if it is allowed now.
pub fn check_vote(poll: &Poll, vote: &NewVote, texts: &Texts) -> BoardResult<HashSet<i64>> {
    if poll.closed {
        return Err(BoardError::forbidden(texts.poll_closed).with_reason("closed"));
    }
    if poll.own_vote.is_some() && !poll.can_change_vote {
        return Err(BoardError::conflict(texts.already_voted).with_reason("already_voted"));
    }
    let known = option_ids(poll);
    let named = vote
        .option_ids
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let field = || format!("optionIds[{index}]");
            option_number(&known, id, texts).map_err(|error| error.with_field(field()))
        })
        .collect::<BoardResult<Vec<_>>>()?;
    let of_options = |text: String| BoardError::validation("optionIds", text);
    if named.is_empty() {
        return Err(of_options(texts.vote_missing.into()).with_reason("required"));
    }
    if let Some(index) = first_repeated(named.iter()) {
        let error = BoardError::validation(format!("optionIds[{index}]"), texts.duplicate_choice);
        return Err(error.with_reason("duplicate"));
    }
    if named.len() > poll.max_choices as usize {
        let text = fill(texts.too_many_choices, poll.max_choices);
        return Err(of_options(text).with_reason("too_long"));
    }
    Ok(named.into_iter().collect())
}

/// Returns whether the caller has already voted for exactly these options.
pub fn is_same_vote(poll: &Poll, vote: &NewVote) -> bool {
    let chosen: HashSet<_> = vote.option_ids.iter().collect();
    poll.own_vote.as_ref().is_some_and(|earlier| {
        earlier.len() == chosen.len() && earlier.iter().all(|id| chosen.contains(id))
    })
}

fn option_ids(poll: &Poll) -> HashSet<&OptionId> {
    poll.options.iter().map(|option| &option.option_id).collect()
}

/// Returns the id of one of the `known` options as a number.
fn option_number(known: &HashSet<&OptionId>, id: &OptionId, texts: &Texts) -> BoardResult<i64> {
    id.to_i64()
        .ok()
        .filter(|_| known.contains(id))
        .ok_or_else(|| BoardError::not_found(texts.unknown_option))
}

/// Returns the index of the first item that equals an earlier one.
fn first_repeated<T: Eq + Hash>(mut items: impl Iterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    items.position(|item| !seen.insert(item))
}
