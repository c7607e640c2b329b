//! What is stored of a token, and its state as a function of the time.

use std::sync::Arc;
use std::time::Duration;

use subtle::ConstantTimeEq;

use super::Lookup;
use crate::model::{Timestamp, UserId};

/// The SHA-256 of a token's secret. It prints as its name only, and compares in constant time.
#[derive(Clone, Copy, Eq)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// From the bytes of the hash.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash, for a store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for SecretDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

opaque_debug!(SecretDigest);

/// A token as it is stored: never the token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// The public part, by which it is found.
    pub lookup: Lookup,
    /// The SHA-256 of the secret.
    pub digest: SecretDigest,
    /// For whom it acts.
    pub owner: UserId,
    /// What its issuer called it; may be empty.
    pub label: String,
    /// What it carries, as it was written then: a scope may have been retired since. Copies share them.
    pub scopes: Arc<[String]>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// From when on it is expired; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used; a use within a minute after that is not noted.
    pub last_used_at: Option<Timestamp>,
}

/// Whether a token opens anything now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// It does.
    Valid,
    /// Its time is over.
    Expired,
    /// It was revoked, which wins over being expired.
    Revoked,
}

impl TokenState {
    /// The state's name: `valid`, `expired` or `revoked`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl TokenRecord {
    /// How much later a use has to be than the last that was noted, for a store to note it.
    pub const LAST_USED_RESOLUTION: Duration = Duration::from_secs(60);

    /// The token's state at `now`: expired from the very instant of its expiry on.
    pub fn state(&self, now: Timestamp) -> TokenState {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(end)) if now >= end => TokenState::Expired,
            _ => TokenState::Valid,
        }
    }

    /// Whether a use at `now` is worth noting.
    pub fn should_record_use(&self, now: Timestamp) -> bool {
        self.last_used_at
            .is_none_or(|last| now >= last.saturating_add(Self::LAST_USED_RESOLUTION))
    }
}
