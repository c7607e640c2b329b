//! Who wrote, sent or edited something.

use schemars::JsonSchema;
use serde::Serialize;

use super::UserId;

/// A member beside what they wrote. Where the account is gone, `null` stands in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Author::example())]
pub struct Author {
    /// The member's id.
    pub user_id: UserId,
    /// The member's name.
    pub username: String,
    /// The address of the member's picture.
    pub avatar_url: Option<String>,
}

impl Author {
    pub(crate) fn example() -> Self {
        Self {
            user_id: UserId::from(3),
            username: "alice".into(),
            avatar_url: None,
        }
    }
}
