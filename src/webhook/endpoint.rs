//! Webhook endpoints, and the rotation of their secrets ([protocol](crate::guide::protocol), section 13.8).

use std::time::Duration;

use super::{EncryptedSecret, TopicSet};
use crate::model::{CLOCK_TOLERANCE, DAY, EndpointId, Timestamp, UserId};

/// A registered receiver of webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// Id of the endpoint.
    pub id: EndpointId,
    /// URL to which deliveries are sent.
    pub url: String,
    /// Topics to which the endpoint subscribes.
    pub topics: TopicSet,
    /// The member for whom the endpoint acts. It receives only events that this member may see.
    pub owner: UserId,
    /// A disabled endpoint receives no new deliveries, and its queued deliveries wait.
    pub enabled: bool,
    /// Time of the registration. Earlier events are not sent.
    pub created_at: Timestamp,
    /// The secret that signs deliveries until a pending secret becomes active. [`secret_at`](Self::secret_at) returns the
    /// active secret.
    pub secret: EncryptedSecret,
    /// The secret of the last rotation, which signs deliveries from [`PendingSecret::activates_at`] on; `None` if the secret
    /// was never rotated, or if an operator activated the new secret before that time.
    pub pending_secret: Option<PendingSecret>,
    /// Time of the first failed attempt since an attempt last succeeded or the endpoint was enabled; `None` if no attempt
    /// has failed since then. The store maintains it; an update changes it only when it enables the endpoint.
    pub failing_since: Option<Timestamp>,
    /// `true` if the last attempt took longer than a second. The store maintains it.
    pub is_slow: bool,
    /// `true` if the worker disabled the endpoint because all of its attempts failed. Enabling it resets the value.
    pub auto_disabled: bool,
    /// Version of the row, from 1, incremented by each update.
    pub version: i64,
}

/// A secret that becomes active later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingSecret {
    /// The new secret.
    pub secret: EncryptedSecret,
    /// Time at which the secret becomes active unless it is activated before.
    pub activates_at: Timestamp,
}

impl PendingSecret {
    /// Returns whether the time of the activation is reached. A time that is further ahead than the period of a rotation was
    /// written by a clock that was ahead, and counts as reached.
    fn is_active(&self, now: Timestamp) -> bool {
        let latest = now.saturating_add(Endpoint::ROTATION_PERIOD).saturating_add(CLOCK_TOLERANCE);
        now >= self.activates_at || self.activates_at > latest
    }
}

impl Endpoint {
    /// Time until a pending secret becomes active automatically: 24 hours.
    const ROTATION_PERIOD: Duration = DAY;

    /// Returns `true` if the last attempt failed or took longer than a second.
    #[cfg(any(feature = "sqlite", feature = "webhooks"))]
    pub(crate) const fn is_impaired(&self) -> bool {
        self.failing_since.is_some() || self.is_slow
    }

    /// Returns the secret that is active at `now`.
    pub fn secret_at(&self, now: Timestamp) -> &EncryptedSecret {
        match &self.pending_secret {
            Some(pending) if pending.is_active(now) => &pending.secret,
            _ => &self.secret,
        }
    }

    /// Returns the secret that becomes active after `now`; `None` if no secret is pending.
    pub fn pending_at(&self, now: Timestamp) -> Option<&PendingSecret> {
        self.pending_secret.as_ref().filter(|pending| !pending.is_active(now))
    }

    /// Returns the endpoint with `secret` pending. It replaces another pending secret.
    #[doc(hidden)]
    #[must_use]
    pub fn rotated(self, secret: EncryptedSecret, now: Timestamp) -> Self {
        let activates_at = now.saturating_add(Self::ROTATION_PERIOD);
        Self {
            secret: self.secret_at(now).clone(),
            pending_secret: Some(PendingSecret { secret, activates_at }),
            ..self
        }
    }

    /// Returns the endpoint with its pending secret active; `None` if no secret is pending at `now`.
    #[doc(hidden)]
    pub fn activated(self, now: Timestamp) -> Option<Self> {
        let secret = self.pending_at(now)?.secret.clone();
        Some(Self { secret, pending_secret: None, ..self })
    }
}
