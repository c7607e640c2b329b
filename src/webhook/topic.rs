//! What an event is about.

use std::fmt;

/// The name of a kind of event: `[a-z_]+(\.[a-z_]+)+`, at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(std::borrow::Cow<'static, str>);

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

    const fn known(name: &'static str) -> Self {
        Self(std::borrow::Cow::Borrowed(name))
    }

    /// The topic of this name: `ping`, or words of `[a-z_]` with dots between; `None` for anything else.
    pub fn new(name: &str) -> Option<Self> {
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
