//! Where webhooks go.

use std::time::Duration;

use thiserror::Error;

use super::{EncryptedSecret, TopicSet};
use crate::model::{EndpointId, Timestamp, UserId};

/// An address that receives webhooks, on behalf of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Where deliveries are sent.
    pub url: String,
    /// Topics.
    pub topics: TopicSet,
    /// The member for whom it acts: it is told of nothing that this member may not see.
    pub owner: UserId,
    /// A disabled one gets nothing new, and what is queued for it waits.
    pub enabled: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// What signs its deliveries.
    pub secret: EncryptedSecret,
    /// The secret that a rotation brought, not in force yet.
    pub pending_secret: Option<PendingSecret>,
    /// Counts the changes to it, from 1.
    pub version: i64,
}

/// A secret that comes into force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSecret {
    /// The secret.
    pub secret: EncryptedSecret,
    /// From when on it is in force by itself.
    pub activates_at: Timestamp,
}

/// There is no secret to activate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no secret is pending")]
pub struct NoPendingSecretError;

impl Endpoint {
    /// How long a secret pends unless it is activated: 24 hours.
    pub const ROTATION_PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

    /// The secret that signs at `now`.
    pub fn secret_at(&self, now: Timestamp) -> &EncryptedSecret {
        let due = self
            .pending_secret
            .as_ref()
            .filter(|pending| now >= pending.activates_at);
        due.map_or(&self.secret, |pending| &pending.secret)
    }

    /// The endpoint with a new secret, which pends. One that pended before is forgotten.
    #[must_use]
    pub fn rotated(self, secret: EncryptedSecret, now: Timestamp) -> Self {
        let from = now.saturating_add(Self::ROTATION_PERIOD);
        Self {
            secret: self.secret_at(now).clone(),
            pending_secret: Some(PendingSecret {
                secret,
                activates_at: from,
            }),
            ..self
        }
    }

    /// The endpoint with the pending secret in force.
    ///
    /// # Errors
    /// When none pends at `now`.
    pub fn activated(self, now: Timestamp) -> Result<Self, NoPendingSecretError> {
        let pending = self
            .pending_secret
            .filter(|pending| now < pending.activates_at);
        let secret = pending.ok_or(NoPendingSecretError)?.secret;
        Ok(Self {
            secret,
            pending_secret: None,
            ..self
        })
    }
}
