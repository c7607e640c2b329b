//! Members' public profiles (contract, section 6).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Timestamp, UserId};

/// A member's public profile; `Member` on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Member", description = "A member's public profile.", example = Member::example())]
pub struct Member {
    /// The member's id.
    pub user_id: UserId,
    /// The member's name.
    pub username: String,
    /// A title beside the name.
    pub title: Option<String>,
    /// The address of the member's picture.
    pub avatar_url: Option<String>,
    /// When the member joined.
    pub joined_at: Timestamp,
    /// When the member was last seen; noted at most every five minutes.
    pub last_seen_at: Option<Timestamp>,
    /// How many visible posts they wrote where every member may read; the same number for every caller.
    pub post_count: u64,
    /// The sum of their reputation ratings.
    pub reputation: i64,
}

impl Member {
    pub(crate) fn example() -> Self {
        Self {
            user_id: UserId::from(3),
            username: "alice".into(),
            title: None,
            avatar_url: None,
            joined_at: Timestamp::from_millis(1_735_689_600_000),
            last_seen_at: Some(Timestamp::from_millis(1_769_860_800_000)),
            post_count: 42,
            reputation: 7,
        }
    }
}
