//! Which forum a reply is in.

use crate::model::ForumId;

/// What a command returns, with the forum that it is in, for things that do not carry it on the wire.
///
/// The library drops what the caller's standing does not cover, an empty page included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct In<T> {
    /// The forum.
    pub forum: ForumId,
    /// What is in it.
    pub it: T,
}

impl<T> In<T> {
    /// `it`, which is in `forum`.
    pub fn new(forum: ForumId, it: T) -> Self {
        Self { forum, it }
    }
}
