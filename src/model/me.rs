//! Response of `GET /me`: owner, scopes and token ([protocol](crate::guide::protocol), section 11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{Member, Timestamp};

/// The host's part of `GET /me`. The library adds scopes and token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnAccount {
    /// The owner's profile.
    pub owner: Member,
    /// Number of unread messages in the inbox; `None` on boards without messages.
    pub unread_messages: Option<u64>,
}

impl OwnAccount {
    /// Creates the account of a member of a board without messages.
    pub fn new(owner: Member) -> Self {
        Self { owner, unread_messages: None }
    }
}

/// The token of the request.
///
/// The library builds it from the stored token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct TokenInfo {
    /// Label of the token, at most 100 characters; can be empty.
    pub label: String,
    /// Time of issue.
    pub created_at: Timestamp,
    /// Expiry time; null if the token never expires.
    pub expires_at: Option<Timestamp>,
}

/// The token's owner, scopes and expiry.
///
/// The library builds it from the token and the host's [`OwnAccount`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Me {
    /// The token's owner.
    pub owner: Member,
    /// The token's scopes that this API knows.
    pub scopes: Vec<String>,
    /// The token.
    pub token: TokenInfo,
    /// Number of unread messages in the inbox; null for a token that may not read messages, and on boards without messages.
    pub unread_messages: Option<u64>,
}

impl Me {
    pub(crate) fn example() -> Self {
        let created_at = Timestamp::from_millis(1_735_689_600_000);
        Self {
            owner: Member::example(),
            scopes: vec!["forums:read".into(), "members:read".into()],
            token: TokenInfo { label: "laptop".into(), created_at, expires_at: None },
            unread_messages: None,
        }
    }
}
