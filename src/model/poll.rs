//! Polls and votes (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serde_helpers::{double_option, non_null};
use super::{Author, OptionId, PollId, ThreadId, Timestamp};

/// One choice of a poll.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PollOption {
    /// The option's id.
    pub option_id: OptionId,
    /// What it says.
    pub text: String,
    /// How many voted for it.
    pub votes: u64,
}

/// A thread's poll with running totals and the caller's own vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Poll::example())]
pub struct Poll {
    /// The poll's id.
    pub poll_id: PollId,
    /// The thread that carries it.
    pub thread_id: ThreadId,
    /// What it asks.
    pub question: String,
    /// Who wrote it; null when the account is gone.
    pub author: Option<Author>,
    /// The choices, in order.
    pub options: Vec<PollOption>,
    /// How many members voted.
    pub total_votes: u64,
    /// How many options one vote may name.
    pub max_choices: u32,
    /// Whether a vote may be changed.
    pub can_change_vote: bool,
    /// When it closes by itself.
    pub closes_at: Option<Timestamp>,
    /// Whether it is closed now.
    pub closed: bool,
    /// The caller's vote; null for a guest and for who has not voted.
    pub own_vote: Option<Vec<OptionId>>,
    /// Counts the changes to it, from 1. A board that does not count them answers 1.
    pub version: i64,
}

impl Poll {
    pub(crate) fn example() -> Self {
        let option = |id: i64, text: &str, votes| PollOption {
            option_id: OptionId::from(id),
            text: text.into(),
            votes,
        };
        Self {
            poll_id: PollId::from(4),
            thread_id: ThreadId::from(17),
            question: "Which tea?".into(),
            author: Some(Author::example()),
            options: vec![option(1, "Green", 3), option(2, "Black", 2)],
            total_votes: 5,
            max_choices: 1,
            can_change_vote: false,
            closes_at: None,
            closed: false,
            own_vote: Some(vec![OptionId::from(1)]),
            version: 1,
        }
    }
}

/// A poll that a new thread is to carry.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("required" = ["question", "options"]))]
#[non_exhaustive]
pub struct NewPoll {
    /// What it asks; empty when it was left out, and the board refuses that.
    #[serde(default)]
    pub question: String,
    /// The choices, in order.
    pub options: Vec<String>,
    /// How many options one vote may name.
    #[serde(default = "one")]
    pub max_choices: i64,
    /// Whether a vote may be changed.
    #[serde(default)]
    pub can_change_vote: bool,
    /// When it closes by itself.
    #[serde(default)]
    pub closes_at: Option<Timestamp>,
}

impl NewPoll {
    /// A poll with these choices, of which a vote names one, that stands for ever.
    pub fn new(question: impl Into<String>, options: Vec<String>) -> Self {
        Self {
            question: question.into(),
            options,
            max_choices: one(),
            can_change_vote: false,
            closes_at: None,
        }
    }
}

fn one() -> i64 {
    1
}

/// What `POST /polls/{pollId}/votes` takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({"optionIds": ["1"]}))]
#[non_exhaustive]
pub struct NewVote {
    /// The options to vote for.
    pub option_ids: Vec<OptionId>,
}

/// An option in an edit: an old one by its id, or a new one without.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PollOptionUpdate {
    /// The option to keep; null for a new one.
    #[serde(default)]
    pub option_id: Option<OptionId>,
    /// What it says.
    pub text: String,
}

impl PollOptionUpdate {
    /// An option that says `text`: the old one with this id, or a new one for `None`.
    pub fn new(option_id: Option<OptionId>, text: impl Into<String>) -> Self {
        Self {
            option_id,
            text: text.into(),
        }
    }
}

/// What `PATCH /polls/{pollId}` takes; a field left out stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(example = json!({"question": "Which tea, then?", "expectedVersion": 1}))]
#[schemars(extend("not" = {"propertyNames": {"const": "expectedVersion"}}))]
#[non_exhaustive]
pub struct PollUpdate {
    /// What it asks.
    #[serde(deserialize_with = "non_null")]
    #[schemars(with = "String")]
    pub question: Option<String>,
    /// All options, in order; votes of one that is missing go with it.
    #[serde(deserialize_with = "non_null")]
    #[schemars(with = "Vec<PollOptionUpdate>")]
    pub options: Option<Vec<PollOptionUpdate>>,
    /// How many options one vote may name.
    #[serde(deserialize_with = "non_null")]
    #[schemars(with = "i64")]
    pub max_choices: Option<i64>,
    /// Whether a vote may be changed.
    #[serde(deserialize_with = "non_null")]
    #[schemars(with = "bool")]
    pub can_change_vote: Option<bool>,
    /// When it closes by itself; null takes the end away (`Some(None)`).
    #[serde(deserialize_with = "double_option")]
    #[schemars(
        with = "Option<Timestamp>",
        description = "When it closes by itself; null takes the end away."
    )]
    pub closes_at: Option<Option<Timestamp>>,
    /// The version that the caller read; `CONFLICT` when it is no longer that one.
    #[serde(deserialize_with = "non_null")]
    #[schemars(with = "i64")]
    pub expected_version: Option<i64>,
}
