//! Forums ([protocol](crate::guide::protocol), section 11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{Extra, ForumId, Timestamp};

/// A forum. Counts include visible content of the forum itself, without its sub-forums.
///
/// Counts are the same for every caller who can see the forum; moderators do not see higher counts. `can_start_thread`
/// agrees with [`create_thread`](crate::host::Board::create_thread): it is `false` for guests.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Forum {
    /// The forum's id.
    pub forum_id: ForumId,
    /// Id of the nearest ancestor that the caller can see; null for a top-level forum.
    ///
    /// The host must determine this ancestor, because the host's list omits hidden
    /// forums. The library replaces a parent that is not in the list with null.
    #[schemars(transform = first_paragraph)]
    pub parent_id: Option<ForumId>,
    /// The forum's title.
    pub title: String,
    /// Description; can be empty.
    pub description: String,
    /// Position among the sibling forums that the caller can see, from 1.
    ///
    /// The library numbers them in the order of the host's list.
    #[schemars(transform = first_paragraph, extend("minimum" = 1))]
    pub position: u32,
    /// Number of visible threads.
    pub thread_count: u64,
    /// Number of visible posts, including first posts.
    pub post_count: u64,
    /// Time of the newest visible post; null if the forum has none.
    pub last_activity_at: Option<Timestamp>,
    /// `true` if the caller may start a thread in the forum.
    pub can_start_thread: bool,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
    /// Fields that only this board has; null if there are none.
    pub extra: Option<Extra>,
}

impl Forum {
    /// Creates an empty top-level forum without a description, in which the caller may not start a thread.
    pub fn new(forum_id: ForumId, title: impl Into<String>) -> Self {
        Self {
            forum_id,
            parent_id: None,
            title: title.into(),
            description: String::new(),
            position: 1,
            thread_count: 0,
            post_count: 0,
            last_activity_at: None,
            can_start_thread: false,
            web_url: None,
            extra: None,
        }
    }

    fn example() -> Self {
        Self {
            description: "Talk about anything.".into(),
            thread_count: 12,
            post_count: 340,
            last_activity_at: Some(Timestamp::from_millis(1_769_860_800_000)),
            can_start_thread: true,
            ..Self::new(ForumId::from(2), "General")
        }
    }

    fn child_example() -> Self {
        Self {
            parent_id: Some(ForumId::from(2)),
            can_start_thread: true,
            ..Self::new(ForumId::from(3), "Help")
        }
    }
}

/// The list of forums. It has no pages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ForumList {
    /// The forums. Parents come before their children, siblings are ordered by position.
    pub items: Vec<Forum>,
}

impl ForumList {
    pub(crate) fn example() -> Self {
        let items = vec![Forum::example(), Forum::child_example()];
        Self { items }
    }
}
