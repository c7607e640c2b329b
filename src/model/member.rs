//! Public profiles of members ([protocol](crate::guide::protocol), section 11.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{Extra, Timestamp, UserId};

/// A member's public profile.
///
/// It is the same for every caller: fields that depended on the caller would reveal hidden forums or content. A banned
/// member still has a profile; a removed account has none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Member {
    /// The member's id.
    pub user_id: UserId,
    /// The username.
    pub username: String,
    /// Title shown with the username; null if the member has none.
    pub title: Option<String>,
    /// URL of the member's picture; null if the member has none.
    pub avatar_url: Option<String>,
    /// Time of registration.
    pub joined_at: Timestamp,
    /// Time of the member's last activity, updated at most every five minutes; null if the board does not show it.
    pub last_seen_at: Option<Timestamp>,
    /// Number of visible posts in forums that every member can read; the same for every caller.
    pub post_count: u64,
    /// Sum of the member's ratings.
    pub reputation: i64,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
    /// Fields that only this board has; null if there are none.
    pub extra: Option<Extra>,
}

impl Member {
    /// Creates a member without a title, a picture, posts or ratings. The last activity is not shown.
    pub fn new(user_id: UserId, username: impl Into<String>, joined_at: Timestamp) -> Self {
        Self {
            user_id,
            username: username.into(),
            title: None,
            avatar_url: None,
            joined_at,
            last_seen_at: None,
            post_count: 0,
            reputation: 0,
            web_url: None,
            extra: None,
        }
    }

    pub(crate) fn example() -> Self {
        let joined_at = Timestamp::from_millis(1_735_689_600_000);
        Self {
            last_seen_at: Some(Timestamp::from_millis(1_769_860_800_000)),
            post_count: 42,
            reputation: 7,
            ..Self::new(UserId::from(3), "alice", joined_at)
        }
    }

    /// Another member than the caller.
    pub(crate) fn other_example() -> Self {
        Self { user_id: UserId::from(4), username: "bob".into(), ..Self::example() }
    }
}
