//! Where something happened, and who did it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Author, ForumId, Thread};

/// What stands around something that happened in a thread, or to it: its event tells of that as well, so that nobody
/// has to ask.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The thread, as the change left it.
    pub thread: &'a Thread,
    /// The title of the forum that the thread is in.
    pub forum_title: &'a str,
    /// The member who did it, if one did.
    pub actor: Option<&'a Author>,
}

impl Surroundings<'_> {
    /// The forum that the thread is in.
    pub(super) fn forum(&self) -> ForumName {
        ForumName {
            forum_id: self.thread.forum_id.clone(),
            title: self.forum_title.into(),
        }
    }
}

/// A forum, beside what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForumName {
    /// The forum's id.
    pub forum_id: ForumId,
    /// Its title.
    pub title: String,
}
