//! The token's owner and the token itself: `GET /me` (contract, section 6).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Member, Timestamp};

/// What the host answers for `GET /me`; the library adds what it knows of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAccount {
    /// The owner's profile.
    pub owner: Member,
    /// How many messages of the inbox are unread; `None` on a board without messages.
    pub unread_messages: Option<u64>,
}

/// The token that was presented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// What its issuer called it; may be empty.
    pub label: String,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it expires; null for never.
    pub expires_at: Option<Timestamp>,
}

/// The token's owner, and what the token carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Me::example())]
pub struct Me {
    /// The token's owner.
    pub owner: Member,
    /// The scopes that the token carries.
    pub scopes: Vec<String>,
    /// The token.
    pub token: TokenInfo,
    /// How many messages of the inbox are unread; null without `messages:read`.
    pub unread_messages: Option<u64>,
}

impl Me {
    fn example() -> Self {
        let created_at = Timestamp::from_millis(1_735_689_600_000);
        Self {
            owner: Member::example(),
            scopes: vec!["forums:read".into(), "members:read".into()],
            token: TokenInfo {
                label: "laptop".into(),
                created_at,
                expires_at: None,
            },
            unread_messages: None,
        }
    }
}
