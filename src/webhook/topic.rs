//! Topics of events, and the set of topics to which an endpoint subscribes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The name of a kind of event: `[a-z_]+(\.[a-z_]+)+`, at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(Cow<'static, str>);

impl Topic {
    /// A thread is there; the event of its first post follows.
    pub const THREAD_CREATED: Self = Self::known("thread.created");
    /// A thread was deleted with its posts.
    pub const THREAD_DELETED: Self = Self::known("thread.deleted");
    /// A thread is there again with its posts.
    pub const THREAD_RESTORED: Self = Self::known("thread.restored");
    /// A post is there.
    pub const POST_CREATED: Self = Self::known("post.created");
    /// A post was edited.
    pub const POST_UPDATED: Self = Self::known("post.updated");
    /// A reply was deleted.
    pub const POST_DELETED: Self = Self::known("post.deleted");
    /// A reply is there again.
    pub const POST_RESTORED: Self = Self::known("post.restored");
    /// Somebody voted, or changed the vote.
    pub const POLL_VOTED: Self = Self::known("poll.voted");
    /// A poll was edited.
    pub const POLL_UPDATED: Self = Self::known("poll.updated");
    /// A member was rated.
    pub const MEMBER_RATED: Self = Self::known("member.rated");
    /// A private message was sent: its ids and nothing of its text.
    pub const MESSAGE_SENT: Self = Self::known("message.sent");
    /// An operator tries an endpoint.
    pub const PING: Self = Self::known("ping");

    /// What any board sends to those who subscribe: all of these but [`PING`](Self::PING).
    pub const STANDARD: [Self; 11] = [
        Self::THREAD_CREATED,
        Self::THREAD_DELETED,
        Self::THREAD_RESTORED,
        Self::POST_CREATED,
        Self::POST_UPDATED,
        Self::POST_DELETED,
        Self::POST_RESTORED,
        Self::POLL_VOTED,
        Self::POLL_UPDATED,
        Self::MEMBER_RATED,
        Self::MESSAGE_SENT,
    ];

    const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The topic of this name: `ping`, or words of `[a-z_]` with dots between; `None` for anything else.
    pub fn parse(name: &str) -> Option<Self> {
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
        };
        let is_one = name.len() <= 64 && name.contains('.') && name.split('.').all(is_word);
        (is_one || name == "ping").then(|| Self(name.to_owned().into()))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name that stands for all.
const ALL: &str = "*";

/// The topics to which an endpoint subscribes. As text: names with commas between, of which one may be `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicSet {
    /// Whether to all topics but `message.sent`: `*`.
    pub all: bool,
    /// Topics by name.
    pub named: BTreeSet<Topic>,
}

/// No endpoint can subscribe to a topic of this name, of which up to 64 characters are kept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown topic {0:?}")]
pub struct UnknownTopicError(pub String);

impl TopicSet {
    /// Whether an event of this topic is to be sent.
    pub fn contains(&self, topic: &Topic) -> bool {
        let public = ![Topic::MESSAGE_SENT, Topic::PING].contains(topic);
        self.all && public || self.named.contains(topic)
    }

    /// These topics, if a board sends them: the [standard ones](Topic::STANDARD), and the host's own.
    ///
    /// # Errors
    /// [`UnknownTopic`], with the first that it does not send.
    pub fn validated(self, own: &[Topic]) -> Result<Self, UnknownTopicError> {
        let is_sent = |topic: &&Topic| Topic::STANDARD.contains(topic) || own.contains(topic);
        let unknown = self.named.iter().find(|topic| !is_sent(topic));
        match unknown.map(Topic::to_string) {
            Some(name) => Err(UnknownTopicError(name)),
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

    /// Drops names that are not topics, such as those of a newer version. `None` for anything but a JSON array of strings.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let mut names: BTreeSet<String> = serde_json::from_str(text).ok()?;
        let all = names.remove(ALL);
        let named = names.iter().filter_map(|name| Topic::parse(name)).collect();
        Some(Self { all, named })
    }
}

impl FromStr for TopicSet {
    type Err = UnknownTopicError;

    /// Reads `post.created,post.updated`, `*`, or `*,message.sent`. Blanks around a name do no harm.
    fn from_str(text: &str) -> Result<Self, UnknownTopicError> {
        let mut topics = Self::default();
        for name in text.split(',').map(str::trim) {
            match Topic::parse(name).filter(|topic| *topic != Topic::PING) {
                Some(topic) => drop(topics.named.insert(topic)),
                None if name == ALL => topics.all = true,
                None => return Err(UnknownTopicError(name.chars().take(64).collect())),
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
