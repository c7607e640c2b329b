//! Authors, senders and editors of resources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UserId;

/// The author, sender or editor of a resource. A field of this type is null if the account no longer exists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Author {
    /// The member's id.
    pub user_id: UserId,
    /// The username.
    pub username: String,
    /// URL of the member's picture; null if the member has none.
    pub avatar_url: Option<String>,
}

impl Author {
    /// Creates an author without a picture.
    pub fn new(user_id: UserId, username: impl Into<String>) -> Self {
        Self { user_id, username: username.into(), avatar_url: None }
    }

    pub(crate) fn example() -> Self {
        Self::new(UserId::from(3), "alice")
    }

    pub(crate) fn other_example() -> Self {
        Self {
            avatar_url: Some("https://board.example/avatars/4.png".into()),
            ..Self::new(UserId::from(4), "bob")
        }
    }
}
