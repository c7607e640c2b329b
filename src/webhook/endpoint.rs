//! Where webhooks go.

use std::time::Duration;

use thiserror::Error;

use super::{Sealed, Topics};
use crate::model::{EndpointId, Timestamp, UserId};

/// An address that receives webhooks, on behalf of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Where deliveries are sent.
    pub url: String,
    /// Topics.
    pub topics: Topics,
    /// The member for whom it acts: it is told of nothing that this member may not see.
    pub owner: UserId,
    /// A disabled one gets nothing new, and what is queued for it waits.
    pub enabled: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// What signs its deliveries.
    pub secret: Sealed,
    /// The secret that a rotation brought, not in force yet.
    pub pending: Option<Pending>,
    /// Counts the changes to it, from 1.
    pub version: i64,
}

/// A secret that comes into force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The secret.
    pub secret: Sealed,
    /// From when on it is in force by itself.
    pub from: Timestamp,
}

/// There is no secret to activate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no secret is pending")]
pub struct NothingPending;

impl Endpoint {
    /// How long a secret pends unless it is activated: 24 hours.
    pub const PENDING: Duration = Duration::from_secs(24 * 60 * 60);

    /// The secret that signs at `now`.
    pub fn secret_at(&self, now: Timestamp) -> &Sealed {
        let due = self.pending.as_ref().filter(|pending| now >= pending.from);
        due.map_or(&self.secret, |pending| &pending.secret)
    }

    /// The endpoint with a new secret, which pends. One that pended before is forgotten.
    #[must_use]
    pub fn rotated(self, secret: Sealed, now: Timestamp) -> Self {
        let from = now.plus(Self::PENDING);
        Self {
            secret: self.secret_at(now).clone(),
            pending: Some(Pending { secret, from }),
            ..self
        }
    }

    /// The endpoint with the pending secret in force.
    ///
    /// # Errors
    /// When none pends at `now`.
    pub fn activated(self, now: Timestamp) -> Result<Self, NothingPending> {
        let pending = self.pending.filter(|pending| now < pending.from);
        let secret = pending.ok_or(NothingPending)?.secret;
        Ok(Self {
            secret,
            pending: None,
            ..self
        })
    }
}
