//! Deliveries of events to endpoints: states, results of attempts, and backoff ([protocol](crate::guide::protocol),
//! sections 13.9 to 13.12).

use std::time::Duration;

use serde::Serialize;

use super::{Event, Topic, TransportError};
use crate::error::named_variants;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};

/// Number of failed attempts after which a delivery is dead.
const MAX_ATTEMPTS: u32 = 6;

named_variants! {
    /// The state of a delivery. [`Queued`](Self::Queued) and [`Retrying`](Self::Retrying) are pending states; the others are
    /// finished states.
    pub enum DeliveryState: "a state, for example queued" {
        /// Waits for its first attempt. A finished delivery that an operator retries is in this state again.
        Queued = "queued",
        /// Waits for another attempt: the last one failed, or the secret could not be decrypted.
        Retrying = "retrying",
        /// An attempt succeeded.
        Delivered = "delivered",
        /// Six attempts failed. Kept until an operator retries or removes it, or until the `dead_retention` of the worker's
        /// settings has passed.
        Dead = "dead",
        /// The receiver responded with 410.
        Gone = "gone",
        /// The endpoint's owner may no longer receive the event.
        Withheld = "withheld",
    }
}

impl DeliveryState {
    /// Returns `true` if another attempt follows: the delivery is queued or retrying. Only an operator changes a
    /// finished delivery.
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::Queued | Self::Retrying)
    }
}

/// State, attempts and next attempt of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryProgress {
    /// State of the delivery.
    pub state: DeliveryState,
    /// Number of attempts that were counted since the delivery was last queued.
    pub attempts: u32,
    /// Time of the next attempt; `None` if no attempt follows.
    pub due_at: Option<Timestamp>,
}

/// Result of an attempt.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// The receiver responded with this status.
    Responded(u16),
    /// There was no response, for example because the attempt timed out.
    NoResponse,
    /// Nothing was sent, for example because the connection failed or the address is not allowed. The attempt is
    /// counted.
    NotSent,
    /// The lease of the worker expired after it had begun to send.
    LeaseExpired,
    /// Nothing was sent, because the endpoint's owner may not receive the event. The attempt is not counted.
    Withheld,
    /// Nothing was sent, because the endpoint's secret cannot be decrypted. Holds the delay until the next attempt. The
    /// attempt is not counted.
    DecryptionFailed(Duration),
}

impl DeliveryProgress {
    /// Returns the progress of a delivery that is queued at `now`.
    pub const fn queued(now: Timestamp) -> Self {
        Self { state: DeliveryState::Queued, attempts: 0, due_at: Some(now) }
    }

    /// Returns the progress after an attempt that ended at `now`. `random`, in [0, 1), is the jitter of the next delay. A
    /// finished delivery is returned unchanged.
    #[doc(hidden)]
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
        use AttemptOutcome::{DecryptionFailed, Responded, Withheld};
        let is_counted = !matches!(outcome, Withheld | DecryptionFailed(_));
        let attempts = self.attempts + u32::from(is_counted);
        let (state, delay) = match outcome {
            Withheld => (DeliveryState::Withheld, None),
            DecryptionFailed(delay) => (DeliveryState::Retrying, Some(delay)),
            Responded(200..=299) => (DeliveryState::Delivered, None),
            Responded(410) => (DeliveryState::Gone, None),
            _ if attempts >= MAX_ATTEMPTS => (DeliveryState::Dead, None),
            _ => (DeliveryState::Retrying, Some(backoff.delay(attempts, random))),
        };
        Self { state, attempts, due_at: delay.map(|delay| now.saturating_add(delay)) }
    }
}

/// Delays between attempts: exponential with jitter ([protocol](crate::guide::protocol), section 13.11).
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Delay after the first failure.
    pub initial: Duration,
    /// Longest delay.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { initial: Duration::from_secs(30), max: Duration::from_secs(60 * 60) }
    }
}

impl Backoff {
    /// Returns the delay after `failures` failures: [`initial`](Self::initial), doubled for each failure after the
    /// first. `random`, in [0, 1), adds up to 20% of jitter. The delay is at most [`max`](Self::max).
    pub fn delay(&self, failures: u32, random: f64) -> Duration {
        let factor = 2f64.powi(i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX));
        self.with_jitter(self.initial.as_secs_f64() * factor, random)
    }

    /// Returns the maximum of `delay` and [`initial`](Self::initial). `random`, in [0, 1), adds up to 20% of jitter.
    /// The result is at most the delay before the last attempt with full jitter, which is 576 s by default.
    #[cfg(feature = "webhooks")]
    pub(crate) fn bounded(&self, delay: Duration, random: f64) -> Duration {
        self.with_jitter(delay.max(self.initial).as_secs_f64(), random)
            .min(self.delay(MAX_ATTEMPTS - 1, 1.0))
    }

    fn with_jitter(&self, seconds: f64, random: f64) -> Duration {
        let delay = Duration::try_from_secs_f64(seconds * (1.0 + 0.2 * random));
        delay.map_or(self.max, |delay| delay.min(self.max))
    }
}

/// Delivery of one event to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// Id of the delivery, the same for each attempt. Sent as `x-forum-delivery`.
    pub id: DeliveryId,
    /// Id of the event.
    pub event_id: EventId,
    /// Topic of the event.
    pub topic: Topic,
    /// Id of the endpoint.
    pub endpoint_id: EndpointId,
    /// Time at which the delivery was first queued.
    pub created_at: Timestamp,
    /// State, attempts and next attempt.
    pub progress: DeliveryProgress,
}

impl Delivery {
    /// Creates a delivery that is queued at `now`, for tests.
    #[doc(hidden)]
    pub fn queued(event: &Event, endpoint_id: EndpointId, now: Timestamp) -> Self {
        Self {
            id: DeliveryId::derive(&event.id, &endpoint_id),
            event_id: event.id.clone(),
            topic: event.topic.clone(),
            endpoint_id,
            created_at: now,
            progress: DeliveryProgress::queued(now),
        }
    }
}

/// Record of an attempt, for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AttemptRecord {
    /// Number of the attempt since the delivery was last queued, from 1. An attempt that is not
    /// counted does not increment the number: the next attempt has the same number.
    pub attempt: u32,
    /// Start of the attempt.
    #[serde(rename = "at")]
    pub started_at: Timestamp,
    /// Status of the response; `None` if there was no response.
    pub status: Option<u16>,
    /// Why there was no response; `None` if there was one.
    pub error: Option<TransportError>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Beginning of the response's body; `None` if there was no response. At most 4 KiB together with
    /// [`response_headers`](Self::response_headers).
    #[serde(rename = "answer")]
    pub response_excerpt: Option<String>,
    /// Headers of the request as lines `name: value`, without headers that the transport adds, such as `host`; `None` if
    /// nothing was sent, or if an earlier version recorded the attempt. Not serialized.
    #[serde(skip)]
    pub request_headers: Option<String>,
    /// Headers of the response as lines `name: value`, at most 2 KiB; `None` if there was no response, or if an earlier
    /// version recorded the attempt. Not serialized.
    #[serde(skip)]
    pub response_headers: Option<String>,
}

impl AttemptRecord {
    /// Returns the result as a sentence without a period: the status of the response, or why there was none.
    pub fn result(&self) -> String {
        match (self.status, &self.error) {
            (Some(status), _) => format!("the endpoint responded with {status}"),
            (None, Some(error)) => error.to_string(),
            (None, None) => "the endpoint did not respond".into(),
        }
    }

    /// Returns `false` if no part of the request was sent.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn is_sent(&self) -> bool {
        self.error.as_ref().is_none_or(|error| error.sent)
    }
}
