//! Authors, senders and editors of resources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UserId;

/// The author, sender or editor of a resource. A field of this type is null if the account no longer exists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// The member's id.
    pub user_id: UserId,
    /// The username.
    pub username: String,
    /// URL of the member's picture; null if the member has none.
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

    pub(crate) fn other_example() -> Self {
        Self {
            user_id: UserId::from(4),
            username: "bob".into(),
            avatar_url: Some("https://board.example/avatars/4.png".into()),
        }
    }
}
