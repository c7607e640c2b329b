//! Token records: the stored data of a token and its state.

use std::sync::Arc;
use std::time::Duration;

use super::plain_token::{Lookup, SecretDigest};
use crate::model::{Timestamp, UserId};

/// Stored data of a token. Contains a hash of the token's secret, but not the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "api key")]
#[doc(alias = "pat")]
pub struct TokenRecord {
    /// Public part of the token, unique in a store.
    pub lookup: Lookup,
    /// SHA-256 of the secret.
    pub digest: SecretDigest,
    /// The member for whom the token acts.
    pub owner: UserId,
    /// Name of the token for its owner: a single-line text of at most 100 characters; can be empty.
    pub label: String,
    /// Names of the scopes at the time of issue. Scopes that the API no longer has are ignored. Clones share the list.
    pub scopes: Arc<[String]>,
    /// Time of issue.
    pub created_at: Timestamp,
    /// Time from which the token is expired; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// Time of the revocation; `None` if the token is not revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time of the last recorded use, see [`LAST_USED_RESOLUTION`](Self::LAST_USED_RESOLUTION); `None` if it was not used.
    pub last_used_at: Option<Timestamp>,
}

/// Validity of a token at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenState {
    /// Neither expired nor revoked.
    Valid,
    /// The expiry time is reached.
    Expired,
    /// The token was revoked. A token that is revoked and expired is in this state.
    Revoked,
}

impl TokenState {
    /// Returns `valid`, `expired` or `revoked`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl TokenRecord {
    /// Minimum interval between two recorded uses.
    pub const LAST_USED_RESOLUTION: Duration = Duration::from_secs(60);

    /// Returns the token's state at `now`. At `expires_at` and later, the token is expired.
    pub fn state(&self, now: Timestamp) -> TokenState {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(expires_at)) if now >= expires_at => TokenState::Expired,
            _ => TokenState::Valid,
        }
    }

    /// Returns `true` if a use at `now` must be recorded: if no use was recorded before, or the last recorded use is at
    /// least [`LAST_USED_RESOLUTION`](Self::LAST_USED_RESOLUTION) ago.
    pub(crate) fn should_record_use(&self, now: Timestamp) -> bool {
        self.last_used_at
            .is_none_or(|last| now >= last.saturating_add(Self::LAST_USED_RESOLUTION))
    }
}
