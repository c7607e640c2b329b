//! Token records: the stored data of a token and its state.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::plain_token::{Lookup, SecretDigest};
use crate::model::{Timestamp, UserId};

/// Stored data of a token. Contains a hash of the token's secret, but not the secret.
///
/// A key-value store serializes the record. Later versions of the library deserialize it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// least [`LAST_USED_RESOLUTION`](Self::LAST_USED_RESOLUTION) ago, or as far ahead because a clock was ahead.
    pub(crate) fn should_record_use(&self, now: Timestamp) -> bool {
        let is_due = |last: Timestamp| {
            now >= last.saturating_add(Self::LAST_USED_RESOLUTION)
                || last >= now.saturating_add(Self::LAST_USED_RESOLUTION)
        };
        self.last_used_at.is_none_or(is_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of version 0.1.
    const RECORDED: &str = r#"{"lookup":"0123456789abcdEF","digest":[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7],"owner":"a_Member-01","label":"é\"","scopes":["forums:read","x:y"],"created_at":"1969-12-31T23:59:59.999Z","expires_at":"1970-01-01T00:00:00.002Z","revoked_at":"1970-01-01T00:00:00.003Z","last_used_at":null}"#;

    #[test]
    fn a_recorded_record_is_deserialized_and_serialized() {
        let record = TokenRecord {
            lookup: Lookup::parse("0123456789abcdEF").unwrap(),
            digest: SecretDigest::new([7; 32]),
            owner: UserId::parse("a_Member-01").unwrap(),
            label: "é\"".into(),
            scopes: ["forums:read".to_owned(), "x:y".to_owned()].into(),
            created_at: Timestamp::from_millis(-1),
            expires_at: Some(Timestamp::from_millis(2)),
            revoked_at: Some(Timestamp::from_millis(3)),
            last_used_at: None,
        };
        let recorded: TokenRecord = serde_json::from_str(RECORDED).unwrap();
        assert_eq!(recorded, record);
        assert_eq!(serde_json::to_string(&record).unwrap(), RECORDED);
    }
}
