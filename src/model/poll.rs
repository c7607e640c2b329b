//! Polls and votes ([protocol](crate::guide::protocol), sections 11 and 12.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{Author, FieldUpdate, OptionId, PollId, ThreadId, Timestamp};

/// An option of a poll.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PollOption {
    /// The option's id.
    pub option_id: OptionId,
    /// Text of the option.
    pub text: String,
    /// Number of votes for the option; null if the board hides the totals from the caller.
    pub votes: Option<u64>,
}

impl PollOption {
    /// Creates an option whose votes are hidden.
    pub fn new(option_id: OptionId, text: impl Into<String>) -> Self {
        Self { option_id, text: text.into(), votes: None }
    }
}

/// A thread's poll with running totals and the caller's own vote.
///
/// Either `total_votes` and the `votes` of all options are set, or all of them are `None`. If the board sets only some
/// of them, the library sends null for all and logs a warning.
///
/// Webhook events omit `own_vote`. The poll of an event contains only totals that every caller who can see the forum
/// may see.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Poll {
    /// The poll's id.
    pub poll_id: PollId,
    /// The thread of the poll.
    pub thread_id: ThreadId,
    /// The question.
    pub question: String,
    /// The poll's author; null if the account no longer exists.
    pub author: Option<Author>,
    /// The options, in order.
    pub options: Vec<PollOption>,
    /// Number of voters; null if the board hides the totals from the caller. If `maxChoices` is greater
    /// than 1, it can be less than the sum of the options' votes.
    pub total_votes: Option<u64>,
    /// Maximum number of options in one vote.
    pub max_choices: u32,
    /// `true` if a vote may be changed.
    pub can_change_vote: bool,
    /// Time at which the poll closes; null for a poll without a closing time.
    pub closes_at: Option<Timestamp>,
    /// `true` if the poll is closed.
    pub closed: bool,
    /// The caller's vote; null for guests and for members who have not voted.
    pub own_vote: Option<Vec<OptionId>>,
    /// Number of the current version, from 1. Always 1 on boards without versions.
    pub version: i64,
}

impl Poll {
    /// Creates an open poll of version 1 without an author or a closing time.
    ///
    /// A vote has one option and cannot be changed. The number of voters is hidden, and the caller has not voted.
    pub fn new(
        poll_id: PollId,
        thread_id: ThreadId,
        question: impl Into<String>,
        options: Vec<PollOption>,
    ) -> Self {
        Self {
            poll_id,
            thread_id,
            question: question.into(),
            author: None,
            options,
            total_votes: None,
            max_choices: 1,
            can_change_vote: false,
            closes_at: None,
            closed: false,
            own_vote: None,
            version: 1,
        }
    }

    /// Returns `true` if the poll has an option with this id.
    ///
    /// ```
    /// use forum_api::host::{BoardError, BoardResult};
    /// use forum_api::model::{NewVote, Poll};
    ///
    /// fn check_options(poll: &Poll, vote: &NewVote) -> BoardResult<()> {
    ///     let are_options = vote.option_ids.iter().all(|id| poll.has_option(id));
    ///     are_options.then_some(()).ok_or_else(|| BoardError::not_found("No such option."))
    /// }
    /// ```
    pub fn has_option(&self, id: &OptionId) -> bool {
        self.options.iter().any(|option| option.option_id == *id)
    }

    /// Removes all totals unless each one is set. Returns `true` if only some of them were set.
    pub(crate) fn hide_partial_totals(&mut self) -> bool {
        let set = self.options.iter().filter(|option| option.votes.is_some()).count()
            + usize::from(self.total_votes.is_some());
        let is_partial = set != 0 && set != self.options.len() + 1;
        if is_partial {
            self.total_votes = None;
            self.options.iter_mut().for_each(|option| option.votes = None);
        }
        is_partial
    }

    pub(crate) fn example() -> Self {
        let option = |id: i64, text: &str, votes| PollOption {
            votes: Some(votes),
            ..PollOption::new(OptionId::from(id), text)
        };
        let options = vec![option(1, "Black tea", 3), option(2, "Green tea", 2)];
        let question = "What goes into the pot when it rains?";
        Self {
            author: Some(Author::example()),
            total_votes: Some(5),
            own_vote: Some(vec![OptionId::from(1)]),
            ..Self::new(PollId::from(1), ThreadId::from(16), question, options)
        }
    }

    /// The poll after the update of [`PollUpdate::example`].
    pub(crate) fn updated_example() -> Self {
        Self { closes_at: Some(EXAMPLE_CLOSING_TIME), version: 2, ..Self::example() }
    }
}

/// 2100-01-01T00:00:00Z. A poll cannot be created with a closing time in the past.
const EXAMPLE_CLOSING_TIME: Timestamp = Timestamp::from_millis(4_102_444_800_000);

/// The poll of a new thread.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("required" = ["question", "options"]))]
#[schemars(rename = "PollInput")]
#[non_exhaustive]
pub struct NewPoll {
    /// The question. The board rejects a missing or empty question.
    #[serde(default)]
    pub question: String,
    /// The options, in order: at least two, all different, each a single-line text.
    pub options: Vec<String>,
    /// Maximum number of options in one vote, from 1 to the number of options. Default: 1.
    #[serde(default = "one")]
    pub max_choices: i64,
    /// `true` if a vote may be changed. Default: `false`.
    #[serde(default)]
    pub can_change_vote: bool,
    /// Time at which the poll closes: in the future, in RFC 3339; null for a poll without a closing time.
    #[serde(default)]
    pub closes_at: Option<Timestamp>,
}

impl NewPoll {
    /// Creates a poll in which a vote has one option and cannot be changed, without a closing time.
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

/// Body of `POST /polls/{pollId}/votes`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "VoteInput")]
#[non_exhaustive]
pub struct NewVote {
    /// Options to vote for: from 1 to `maxChoices`, without repetition.
    pub option_ids: Vec<OptionId>,
}

impl NewVote {
    pub(crate) fn example() -> Self {
        let option_ids = vec![OptionId::from(1)];
        Self { option_ids }
    }
}

/// An option of an edited poll: an existing one with its id, or a new one without an id.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PollOptionUpdate {
    /// Id of an existing option; null for a new one.
    #[serde(default)]
    pub option_id: Option<OptionId>,
    /// Text of the option.
    pub text: String,
}

impl PollOptionUpdate {
    /// Creates an option with this text. `None` adds a new option.
    pub fn new(option_id: Option<OptionId>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { option_id, text }
    }
}

/// Body of `PATCH /polls/{pollId}`. Omitted fields keep their value.
///
/// The library rejects an update without a change: at least one field besides `expected_version` must be set.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(transform = first_paragraph)]
#[schemars(extend("not" = {"propertyNames": {"const": "expectedVersion"}}))]
#[non_exhaustive]
pub struct PollUpdate {
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub question: Option<String>,
    /// All options, in order, at least two. Existing options that are not in the list are removed with their votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<PollOptionUpdate>")]
    pub options: Option<Vec<PollOptionUpdate>>,
    /// Maximum number of options in one vote, from 1 to the number of options.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub max_choices: Option<i64>,
    /// `true` if a vote may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub can_change_vote: Option<bool>,
    /// Time at which the poll closes, in RFC 3339; a time in the past closes it at once, null removes the closing time.
    ///
    /// If the closing time is removed, a closed poll opens again.
    #[serde(skip_serializing_if = "FieldUpdate::is_keep")]
    #[schemars(transform = first_paragraph)]
    pub closes_at: FieldUpdate<Timestamp>,
    /// The version that the caller has read. If it is stale, the response is a 409 `CONFLICT`. If it is omitted, the
    /// version is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub expected_version: Option<i64>,
}

impl PollUpdate {
    pub(crate) fn example() -> Self {
        Self {
            closes_at: FieldUpdate::Set(EXAMPLE_CLOSING_TIME),
            expected_version: Some(1),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OptionId, Poll};

    #[test]
    fn a_poll_has_the_ids_of_its_options() {
        let is_option = |id: i64| Poll::example().has_option(&OptionId::from(id));
        assert_eq!([0, 1, 2, 3].map(is_option), [false, true, true, false]);
    }
}
