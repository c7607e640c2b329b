//! What an endpoint is told of.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::Topic;

/// The name that stands for all.
const ALL: &str = "*";

/// What an endpoint is told of. As text: names with commas between, of which one may be `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics {
    /// Whether of everything but `message.sent`: `*`.
    pub all: bool,
    /// Of these, by name.
    pub named: BTreeSet<Topic>,
}

/// What was named, up to 64 characters of it, is no topic that an endpoint can be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTopic(pub String);

impl fmt::Display for UnknownTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no topic {:?} to subscribe to", self.0)
    }
}

impl std::error::Error for UnknownTopic {}

impl Topics {
    /// Whether an event of this topic is to be sent.
    pub fn contains(&self, topic: &Topic) -> bool {
        let public = ![Topic::MESSAGE_SENT, Topic::PING].contains(topic);
        self.all && public || self.named.contains(topic)
    }

    /// These topics, if a board sends them: the [standard ones](Topic::STANDARD), and the host's own.
    ///
    /// # Errors
    /// [`UnknownTopic`], with the first that it does not send.
    pub fn checked(self, own: &[Topic]) -> Result<Self, UnknownTopic> {
        let is_sent = |topic: &&Topic| Topic::STANDARD.contains(topic) || own.contains(topic);
        let unknown = self.named.iter().find(|topic| !is_sent(topic));
        match unknown.map(Topic::to_string) {
            Some(name) => Err(UnknownTopic(name)),
            None => Ok(self),
        }
    }
}

/// As stores keep them: a JSON array, in which `*` stands for all.
impl Topics {
    pub(crate) fn to_json(&self) -> String {
        serde_json::json!(self.names().collect::<Vec<_>>()).to_string()
    }

    /// Drops names that are not topics, such as those of a newer version. `None` for anything but a JSON array of strings.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let mut names: BTreeSet<String> = serde_json::from_str(text).ok()?;
        let all = names.remove(ALL);
        let named = names.iter().filter_map(|name| Topic::new(name)).collect();
        Some(Self { all, named })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.all.then_some(ALL);
        all.into_iter().chain(self.named.iter().map(Topic::as_str))
    }
}

impl FromStr for Topics {
    type Err = UnknownTopic;

    /// Reads `post.created,post.updated`, `*`, or `*,message.sent`. Blanks around a name do no harm.
    fn from_str(text: &str) -> Result<Self, UnknownTopic> {
        let mut topics = Self::default();
        for name in text.split(',').map(str::trim) {
            match Topic::new(name).filter(|topic| *topic != Topic::PING) {
                Some(topic) => drop(topics.named.insert(topic)),
                None if name == ALL => topics.all = true,
                None => return Err(UnknownTopic(name.chars().take(64).collect())),
            }
        }
        Ok(topics)
    }
}

impl fmt::Display for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(","))
    }
}
