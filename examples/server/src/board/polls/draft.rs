//! What a poll is to be, by the board's rules: pure functions of values.

use forum_api::host::{Refusal, Result};
use forum_api::model::{EditOption, EditPoll, NewPoll, Poll, Timestamp};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::super::rules::line;
use super::super::texts::{Texts, fill};
use super::rules::{all_differ, known};

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
        return Err(Refusal::invalid("closesAt", say.polls.ends_in_the_past));
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
    line("question", text, limits.text, (missing, too_long), say)
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
        let text = line("options", text, limits.text, (missing, too_long), say)?;
        Ok(Choice { id, text })
    });
    let choices = trimmed.collect::<Result<Vec<_>>>()?;
    if choices.len() < 2 {
        return Err(Refusal::invalid("options", say.polls.too_few_options));
    }
    if choices.len() > limits.options as usize {
        let many = fill(say.polls.too_many_options, limits.options);
        return Err(Refusal::invalid("options", many));
    }
    let read = |choice: &Choice<'_>| choice.text.nfc().collect::<String>();
    let differ = all_differ(choices.iter().map(read))
        && all_differ(choices.iter().filter_map(|choice| choice.id));
    differ
        .then_some(choices)
        .ok_or_else(|| Refusal::invalid("options", say.polls.option_doubled))
}

fn max_choices(most: i64, options: usize, say: &Texts) -> Result<i64> {
    let possible = usize::try_from(most).is_ok_and(|most| (1..=options).contains(&most));
    possible
        .then_some(most)
        .ok_or_else(|| Refusal::invalid("maxChoices", fill(say.polls.max_choices, options)))
}

#[cfg(test)]
mod tests {
    use super::super::sample::poll;
    use super::*;
    use forum_api::Language;
    use serde_json::{Value, from_value, json};

    const SAY: &Texts = Texts::of(Language::English);
    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const LIMITS: Limits = Limits {
        text: 5,
        options: 3,
    };

    fn refused<T>(drawn: Result<T>) -> Option<String> {
        drawn.err().map(|refusal| match refusal {
            Refusal::Invalid { message: text, .. } | Refusal::NotFound(text) => text,
            other => panic!("{other:?}"),
        })
    }

    fn begin(poll: &Value) -> Option<String> {
        let poll = from_value(poll.clone()).unwrap();
        refused(new(&poll, LIMITS, NOW, SAY))
    }

    fn change(edit: &Value) -> Option<String> {
        let edit = from_value(edit.clone()).unwrap();
        refused(edited(&poll(), &edit, LIMITS, SAY))
    }

    #[test]
    fn a_poll_asks_something_and_offers_two_options_that_differ() {
        let options = |options: Value| json!({ "question": "Tea?", "options": options });
        let say = &SAY.polls;
        for (poll, text) in [
            (options(json!(["yes", "no"])), None),
            (options(json!(["yes", "no", " äöüßé "])), None),
            (options(json!([])), Some(say.too_few_options.into())),
            (options(json!(["yes"])), Some(say.too_few_options.into())),
            (
                options(json!(["a", "b", "c", "d"])),
                Some(fill(say.too_many_options, 3)),
            ),
            (
                options(json!(["yes", " yes"])),
                Some(say.option_doubled.into()),
            ),
            (
                options(json!(["yes", " "])),
                Some(say.option_missing.into()),
            ),
            (
                options(json!(["yes", "perhaps"])),
                Some(fill(say.option_too_long, 5)),
            ),
            (
                json!({ "options": ["yes", "no"] }),
                Some(say.question_missing.into()),
            ),
            (
                json!({ "question": "Coffee?", "options": ["yes", "no"] }),
                Some(fill(say.question_too_long, 5)),
            ),
        ] {
            assert_eq!(begin(&poll), text, "{poll}");
        }
    }

    #[test]
    fn as_many_can_be_chosen_as_there_are_options() {
        for (most, possible) in [
            (i64::MIN, false),
            (-1, false),
            (0, false),
            (1, true),
            (2, true),
            (3, false),
            (i64::MAX, false),
        ] {
            let poll = json!({ "question": "Tea?", "options": ["yes", "no"], "maxChoices": most });
            assert_eq!(begin(&poll).is_none(), possible, "{most}");
        }
    }

    #[test]
    fn a_new_poll_ends_later_than_now() {
        for (end, possible) in [(-1, false), (0, false), (1, true)] {
            let end = Timestamp::from_millis(NOW.as_millis() + end);
            let poll = json!({ "question": "Tea?", "options": ["yes", "no"], "closesAt": end });
            assert_eq!(begin(&poll).is_none(), possible, "{end}");
        }
    }

    #[test]
    fn an_edit_is_held_against_what_it_leaves_as_it_is() {
        let both = json!([{ "optionId": "7", "text": "yes" }, { "optionId": "8", "text": "no" }]);
        let say = &SAY.polls;
        for (edit, text) in [
            (json!({ "question": "Milk?" }), None),
            (
                json!({ "question": " " }),
                Some(say.question_missing.into()),
            ),
            (json!({ "maxChoices": 4 }), Some(fill(say.max_choices, 3))),
            (json!({ "options": both }), None),
            (
                json!({ "options": both, "maxChoices": 3 }),
                Some(fill(say.max_choices, 2)),
            ),
            (json!({ "closesAt": "1970-01-01T00:00:00Z" }), None),
            (
                json!({ "options": [{ "optionId": "7", "text": "a" }, { "optionId": "7", "text": "b" }] }),
                Some(say.option_doubled.into()),
            ),
            (
                json!({ "options": [{ "text": "a" }, { "optionId": "6", "text": "b" }] }),
                Some(say.no_such_option.into()),
            ),
            (
                json!({ "options": [{ "text": "a" }, { "optionId": "?", "text": "b" }] }),
                Some(say.no_such_option.into()),
            ),
        ] {
            assert_eq!(change(&edit), text, "{edit}");
        }
    }
}
