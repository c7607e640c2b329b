//! Forums (contract, section 6).

use schemars::JsonSchema;
use serde::Serialize;

use super::{ForumId, Timestamp};

/// A forum, as one caller sees it. Counts are of its own visible content, without its sub-forums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Forum::example())]
pub struct Forum {
    /// The forum's id.
    pub forum_id: ForumId,
    /// The nearest forum above that this caller sees.
    ///
    /// A host that leaves hidden forums out of its list finds that one itself: a parent that is not in the list
    /// becomes null. The library skips those that are in the list but not in the caller's standing.
    #[schemars(description = "The nearest forum above that the caller sees.")]
    pub parent_id: Option<ForumId>,
    /// The forum's title.
    pub title: String,
    /// What the forum is about; may be empty.
    pub description: String,
    /// Its place among its siblings, from 1.
    pub position: u32,
    /// How many visible threads it has.
    pub thread_count: u64,
    /// How many visible posts it has, first posts included.
    pub post_count: u64,
    /// When something visible was last posted in it.
    pub last_activity_at: Option<Timestamp>,
    /// Whether this caller may start a thread in it.
    pub can_start_thread: bool,
}

impl Forum {
    pub(crate) fn example() -> Self {
        Self {
            forum_id: ForumId::from(2),
            parent_id: None,
            title: "General".into(),
            description: "Talk about anything.".into(),
            position: 1,
            thread_count: 12,
            post_count: 340,
            last_activity_at: Some(Timestamp::from_millis(1_769_860_800_000)),
            can_start_thread: true,
        }
    }
}
