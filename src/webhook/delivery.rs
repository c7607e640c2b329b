//! A delivery of an event to an endpoint, and its states (`docs/protocol.md`, section 13.10).

use std::time::Duration;

use serde::Serialize;

use super::Topic;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};

/// After so many failed attempts a delivery is dead.
pub const MAX_ATTEMPTS: u32 = 6;

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Waits for its first attempt, also after an operator retry.
    Queued,
    /// Failed, or could not be signed, and waits for another attempt.
    Retrying,
    /// The receiver has it.
    Delivered,
    /// Failed six times: kept until an operator retries or removes it.
    Dead,
    /// The receiver answered 410.
    Gone,
    /// The endpoint's owner may not be told any more.
    Withheld,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Retrying,
        Self::Delivered,
        Self::Dead,
        Self::Gone,
        Self::Withheld,
    ];

    /// Its name, as `queued`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Retrying => "retrying",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
            Self::Gone => "gone",
            Self::Withheld => "withheld",
        }
    }

    /// Whether an attempt is to come: only an operator moves any other state.
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::Queued | Self::Retrying)
    }

    /// The state of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryProgress {
    /// Its state.
    pub state: DeliveryState,
    /// How many attempts have ended since it was queued.
    pub attempts: u32,
    /// When the next one is due; `None` when there is none to come.
    pub due_at: Option<Timestamp>,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver answered with this status.
    Responded(u16),
    /// There was no answer in time.
    NoResponse,
    /// The worker that had taken it never said how it ended.
    LeaseExpired,
    /// Nothing was sent: the endpoint's owner can no longer act, or no longer sees the forum.
    Withheld,
    /// Nothing was sent: the endpoint's secret cannot be decrypted. The next attempt follows after this wait, and none is
    /// counted.
    Postponed(Duration),
}

impl DeliveryProgress {
    /// Queued at `now`, for the first time or again.
    pub const fn queued(now: Timestamp) -> Self {
        Self {
            state: DeliveryState::Queued,
            attempts: 0,
            due_at: Some(now),
        }
    }

    /// What follows from an attempt that ended so at `now`; `random` (0 to 1, without 1) spreads the wait. Where none
    /// was to come, nothing does.
    #[must_use]
    pub fn after_attempt(
        self,
        outcome: AttemptOutcome,
        backoff: &Backoff,
        now: Timestamp,
        random: f64,
    ) -> Self {
        if !self.state.is_pending() {
            return self;
        }
        let is_counted = !matches!(
            outcome,
            AttemptOutcome::Withheld | AttemptOutcome::Postponed(_)
        );
        let attempts = self.attempts + u32::from(is_counted);
        let (state, wait) = match outcome {
            AttemptOutcome::Withheld => (DeliveryState::Withheld, None),
            AttemptOutcome::Postponed(wait) => (DeliveryState::Retrying, Some(wait)),
            AttemptOutcome::Responded(200..=299) => (DeliveryState::Delivered, None),
            AttemptOutcome::Responded(410) => (DeliveryState::Gone, None),
            _ if attempts >= MAX_ATTEMPTS => (DeliveryState::Dead, None),
            _ => (
                DeliveryState::Retrying,
                Some(backoff.delay(attempts, random)),
            ),
        };
        Self {
            state,
            attempts,
            due_at: wait.map(|wait| now.saturating_add(wait)),
        }
    }

    /// Progress after an operator retry: a finished delivery is queued again with its attempts counted from 0; a retrying
    /// one becomes due at once with its attempts unchanged. `None` when it is queued.
    pub fn requeued(self, now: Timestamp) -> Option<Self> {
        match self.state {
            DeliveryState::Queued => None,
            DeliveryState::Retrying => Some(Self {
                due_at: Some(now),
                ..self
            }),
            DeliveryState::Delivered
            | DeliveryState::Dead
            | DeliveryState::Gone
            | DeliveryState::Withheld => Some(Self::queued(now)),
        }
    }
}

/// The waits between attempts (`docs/protocol.md`, section 13.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub initial: Duration,
    /// The longest wait.
    pub max: Duration,
}

impl Default for Backoff {
    /// 30 s to begin with, never more than one hour.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(30),
            max: Duration::from_secs(60 * 60),
        }
    }
}

impl Backoff {
    /// The wait after the `failed`th failure: the initial one, doubled with each failure before, and up to a fifth
    /// longer by `random` (0 to 1, without 1).
    pub fn delay(&self, failed: u32, random: f64) -> Duration {
        let doubled = 2f64.powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX));
        self.spread(self.initial.as_secs_f64() * doubled, random)
    }

    /// Limits `wait` to at least the initial and at most the longest wait, and adds up to a fifth by `random` (0 to 1,
    /// without 1).
    #[cfg(feature = "webhooks")]
    pub(crate) fn bounded(&self, wait: Duration, random: f64) -> Duration {
        self.spread(wait.max(self.initial).as_secs_f64(), random)
    }

    fn spread(&self, seconds: f64, random: f64) -> Duration {
        let spread = Duration::try_from_secs_f64(seconds * (1.0 + 0.2 * random));
        spread.map_or(self.max, |wait| wait.min(self.max))
    }
}

/// A delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, the same on every attempt: `x-forum-delivery`.
    pub id: DeliveryId,
    /// The event that is delivered.
    pub event: EventId,
    /// What the event is about.
    pub topic: Topic,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// When it was first queued.
    pub created_at: Timestamp,
    /// How far it has come.
    pub progress: DeliveryProgress,
}

/// An attempt, as it is kept for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// Which one since the delivery was queued, from 1.
    pub attempt: u32,
    /// When it began.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong, in one sentence.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the answer's body, at most 4 KiB.
    pub response_excerpt: Option<String>,
}
