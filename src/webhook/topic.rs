//! Topics of events, and the set of topics to which an endpoint subscribes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};
use crate::model::is_dotted_name;

/// Name of a kind of event: `ping`, or `[a-z_]+(\.[a-z_]+)+` of at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(Cow<'static, str>);

impl Topic {
    /// A thread was created or approved. Its first post has an event of its own.
    pub const THREAD_CREATED: Self = Self::from_static("thread.created");
    /// A thread has a new title or forum, or was locked, unlocked, pinned or unpinned.
    pub const THREAD_UPDATED: Self = Self::from_static("thread.updated");
    /// A thread was deleted with its posts.
    pub const THREAD_DELETED: Self = Self::from_static("thread.deleted");
    /// A thread was restored with its posts.
    pub const THREAD_RESTORED: Self = Self::from_static("thread.restored");
    /// A post was created or approved: a reply, or the first post of a thread.
    pub const POST_CREATED: Self = Self::from_static("post.created");
    /// A post was edited.
    pub const POST_UPDATED: Self = Self::from_static("post.updated");
    /// A reply was deleted.
    pub const POST_DELETED: Self = Self::from_static("post.deleted");
    /// A reply was restored.
    pub const POST_RESTORED: Self = Self::from_static("post.restored");
    /// A member voted or changed a vote.
    pub const POLL_VOTED: Self = Self::from_static("poll.voted");
    /// A poll was edited.
    pub const POLL_UPDATED: Self = Self::from_static("poll.updated");
    /// A member was rated.
    pub const MEMBER_RATED: Self = Self::from_static("member.rated");
    /// The account of a member was erased. The event contains only the id.
    pub const MEMBER_ERASED: Self = Self::from_static("member.erased");
    /// A private message was sent. The event contains only ids: of the sender's copy, the sender and the recipients.
    pub const MESSAGE_SENT: Self = Self::from_static("message.sent");
    /// An operator sent a test event to an endpoint.
    pub const PING: Self = Self(Cow::Borrowed("ping"));

    /// The topics that the library defines, without [`PING`](Self::PING).
    pub const STANDARD: &'static [Self] = &[
        Self::THREAD_CREATED,
        Self::THREAD_UPDATED,
        Self::THREAD_DELETED,
        Self::THREAD_RESTORED,
        Self::POST_CREATED,
        Self::POST_UPDATED,
        Self::POST_DELETED,
        Self::POST_RESTORED,
        Self::POLL_VOTED,
        Self::POLL_UPDATED,
        Self::MEMBER_RATED,
        Self::MEMBER_ERASED,
        Self::MESSAGE_SENT,
    ];

    /// Creates a topic of a host: `[a-z_]+(\.[a-z_]+)+` of at most 64 characters.
    ///
    /// # Panics
    /// If the name has another form. In a constant, the compiler reports it.
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_dotted_name(name), "a topic is `[a-z_]+(\\.[a-z_]+)+`");
        Self(Cow::Borrowed(name))
    }

    /// Parses a name.
    ///
    /// # Errors
    /// [`ParseError`] unless it is `ping`, or `[a-z_]+(\.[a-z_]+)+` of at most 64 characters.
    pub fn parse(name: &str) -> Result<Self, ParseError> {
        if is_dotted_name(name) || name == "ping" {
            Ok(Self(name.to_owned().into()))
        } else {
            Err(ParseError::new("a topic, for example post.created"))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl_from_str!(Topic);
impl_as_str!(Topic);
impl_serde_str!(Topic);

/// Name of all topics except `message.sent`.
const ALL: &str = "*";

/// The topics to which an endpoint subscribes. The text form is a comma-separated list of names, one of which can be
/// `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicSet {
    /// `true` to subscribe to all topics except `message.sent` and `ping`, including topics that are added later. The text
    /// form is `*`.
    pub all: bool,
    /// Topics that the set lists by name.
    pub named: BTreeSet<Topic>,
}

/// The board has no topic of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown topic {0:?}")]
#[non_exhaustive]
pub struct UnknownTopicError(String);

impl UnknownTopicError {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.chars().take(64).collect())
    }

    /// Returns at most 64 characters of the name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl TopicSet {
    /// Returns `true` if the set contains `topic`. `*` contains neither `message.sent` nor `ping`.
    pub fn contains(&self, topic: &Topic) -> bool {
        let public = ![Topic::MESSAGE_SENT, Topic::PING].contains(topic);
        self.all && public || self.named.contains(topic)
    }

    /// Returns the set if each of its topics is one of the board's `topics`.
    ///
    /// # Errors
    /// [`UnknownTopicError`] with the first topic that is not.
    #[cfg(feature = "webhooks")]
    pub(crate) fn validated(self, topics: &[Topic]) -> Result<Self, UnknownTopicError> {
        match self.named.iter().find(|topic| !topics.contains(topic)) {
            Some(unknown) => Err(UnknownTopicError::new(unknown.as_str())),
            None => Ok(self),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.all.then_some(ALL);
        all.into_iter().chain(self.named.iter().map(Topic::as_str))
    }
}

/// The stored form: a JSON array of names.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl TopicSet {
    pub(crate) fn to_json(&self) -> String {
        serde_json::json!(self.names().collect::<Vec<_>>()).to_string()
    }

    /// Drops names that are not topics, such as those of a newer version.
    pub(crate) fn from_json(text: &str) -> Result<Self, ParseError> {
        let mut names: BTreeSet<String> =
            serde_json::from_str(text).map_err(|_| ParseError::new("a JSON array of topics"))?;
        let all = names.remove(ALL);
        let named = names.iter().filter_map(|name| Topic::parse(name).ok()).collect();
        Ok(Self { all, named })
    }
}

impl FromStr for TopicSet {
    type Err = UnknownTopicError;

    /// Parses `post.created,post.updated`, `*`, or `*,message.sent`. Ignores spaces around names.
    ///
    /// # Errors
    /// [`UnknownTopicError`] with the first name that is malformed or `ping`.
    fn from_str(text: &str) -> Result<Self, UnknownTopicError> {
        let mut topics = Self::default();
        for name in text.split(',').map(str::trim) {
            match Topic::parse(name).ok().filter(|topic| *topic != Topic::PING) {
                Some(topic) => drop(topics.named.insert(topic)),
                None if name == ALL => topics.all = true,
                None => return Err(UnknownTopicError::new(name)),
            }
        }
        Ok(topics)
    }
}

impl fmt::Display for TopicSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(","))
    }
}
