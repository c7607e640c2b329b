//! Trait of idempotency stores: responses by `Idempotency-Key` ([protocol](crate::guide::protocol), section 9).

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::BackendResult;
use crate::model::{DAY, ForumId, PostId, ThreadId, Timestamp};
use crate::token::Lookup;

/// A request that is executed at most once: an API request with an `Idempotency-Key`, or a form of the control panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// Namespace of the key.
    pub namespace: IdempotencyNamespace,
    /// The key: 1 to 64 visible ASCII characters.
    pub key: String,
    /// Hash that identifies the request: the SHA-256 of method, path, query and body for the API, a constant for the panel.
    pub fingerprint: [u8; 32],
}

/// Requests whose keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdempotencyNamespace {
    /// API requests with this token.
    Token(Lookup),
    /// Forms of the control panel.
    PanelForm,
}

impl IdempotencyNamespace {
    /// Returns the text that a store keeps: the lookup of the token, or `panel`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Token(lookup) => lookup.as_str(),
            Self::PanelForm => "panel",
        }
    }
}

impl IdempotentRequest {
    /// Returns the reservation of a first run that started at `started_at`.
    pub fn reservation(&self, started_at: Timestamp) -> Reservation {
        Reservation { namespace: self.namespace, key: self.key.clone(), started_at }
    }
}

/// A successful response, which is replayed to a repeated request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredResponse {
    /// Status, 200 to 299.
    pub status: u16,
    /// Path of the created resource below the base path, for the header `location`; `None` if the response has no such
    /// header.
    pub location: Option<String>,
    /// The body.
    pub body: Bytes,
    /// Ids of the resources in the response. The library replays the response only if the caller can still see them.
    pub resource: ResourceIds,
}

/// Ids of the resources in a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceIds {
    /// The forum; `None` for resources outside of forums, such as messages.
    pub forum_id: Option<ForumId>,
    /// The thread that was created or subscribed to, or in which the post was created; otherwise `None`.
    pub thread_id: Option<ThreadId>,
    /// The post that was created; otherwise `None`.
    pub post_id: Option<PostId>,
}

/// Outcome of [`IdempotencyStore::begin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginOutcome {
    /// The key is new and reserved: run the command, then [complete](IdempotencyStore::complete) the reservation.
    Reserved(Reservation),
    /// The first run succeeded: replay the response.
    Replay(StoredResponse),
    /// The first run has not ended, and started less than [`LEASE`](IdempotencyRecord::LEASE) ago.
    InProgress,
    /// The first run failed or was interrupted: it may have taken effect.
    OutcomeUnknown,
    /// The key belongs to another request.
    KeyReused,
}

/// Reservation of a key for the first run of its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// See [`IdempotentRequest::namespace`].
    pub namespace: IdempotencyNamespace,
    /// See [`IdempotentRequest::key`].
    pub key: String,
    /// Start of the run.
    pub started_at: Timestamp,
}

/// Result of a first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The command succeeded with this response.
    Responded(StoredResponse),
    /// The command was refused and changed nothing: the key is released.
    NotExecuted,
    /// The command failed and may have taken effect.
    OutcomeUnknown,
}

/// Record of a key. A key-value store serializes the record. Later versions of the library deserialize it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// See [`IdempotentRequest::fingerprint`].
    pub fingerprint: [u8; 32],
    /// Start of the first run.
    pub started_at: Timestamp,
    /// Progress of the first run.
    pub progress: IdempotencyProgress,
}

/// Progress of the first run of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdempotencyProgress {
    /// The run has not ended, or the process crashed during the run.
    InProgress,
    /// The run succeeded with this response.
    Responded(StoredResponse),
    /// The run failed and may have taken effect.
    OutcomeUnknown,
}

/// `None` becomes [`IdempotencyProgress::OutcomeUnknown`].
impl From<Option<StoredResponse>> for IdempotencyProgress {
    fn from(response: Option<StoredResponse>) -> Self {
        response.map_or(Self::OutcomeUnknown, Self::Responded)
    }
}

impl IdempotencyRecord {
    /// Retention period of a key: 24 hours.
    pub const TTL: Duration = DAY;
    /// Duration after which a run that has not ended counts as interrupted: 60 seconds.
    pub const LEASE: Duration = Duration::from_secs(60);

    /// Returns `true` if the key is expired at `now`. A start that is more than [`TTL`](Self::TTL) ahead was written by a
    /// clock that was ahead, and is expired as well.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.started_at.saturating_add(Self::TTL)
            || self.started_at > now.saturating_add(Self::TTL)
    }

    /// Returns the outcome of a later request with the same key.
    pub fn outcome_for(self, fingerprint: &[u8; 32], now: Timestamp) -> BeginOutcome {
        if self.fingerprint != *fingerprint {
            return BeginOutcome::KeyReused;
        }
        match self.progress {
            IdempotencyProgress::Responded(response) => BeginOutcome::Replay(response),
            // A start more than a lease after `now` is from before the clock was set back.
            IdempotencyProgress::InProgress
                if now < self.started_at.saturating_add(Self::LEASE)
                    && self.started_at < now.saturating_add(Self::LEASE) =>
            {
                BeginOutcome::InProgress
            }
            IdempotencyProgress::InProgress | IdempotencyProgress::OutcomeUnknown => {
                BeginOutcome::OutcomeUnknown
            }
        }
    }
}

/// Stores successful responses and unknown outcomes for [`IdempotencyRecord::TTL`]. A store removes expired records itself,
/// for example a few in each [`begin`](Self::begin).
#[async_trait]
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Reserves the key for this request, or returns the outcome of its first run. The method is atomic: exactly one of
    /// several concurrent requests reserves the key. A store that several nodes share reads the time from its own clock
    /// and ignores `now`, so that the clock of a node does not end the keys of other nodes.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The command does not run. The response of the API is
    /// a 503. The response of the panel is a 500, or a 503 if the source is an
    /// [`OverloadedError`](crate::host::OverloadedError). The key may nevertheless have been reserved.
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome>;

    /// Records the result of the first run. Changes nothing if the key was released or reserved again.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The client receives the response of the command.
    /// The library repeats the call in the background, up to 300 times, once a second. Until a call succeeds, the
    /// outcome of a repeated request is [`BeginOutcome::InProgress`], and from [`IdempotencyRecord::LEASE`] after the
    /// start [`BeginOutcome::OutcomeUnknown`].
    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()>;
}

impl_for_pointers!(IdempotencyStore {
    async fn begin(request: &IdempotentRequest, now: Timestamp) -> BackendResult<BeginOutcome>;
    async fn complete(reservation: &Reservation, completion: Completion) -> BackendResult<()>;
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_records_are_deserialized_and_serialized() {
        let response = StoredResponse {
            status: 201,
            location: Some("/posts/40".into()),
            body: "{}".into(),
            resource: ResourceIds {
                forum_id: Some(ForumId::from(2)),
                thread_id: ThreadId::parse("t17").ok(),
                post_id: None,
            },
        };
        for (progress, recorded) in [
            (IdempotencyProgress::InProgress, r#""in_progress""#),
            (IdempotencyProgress::OutcomeUnknown, r#""outcome_unknown""#),
            (
                IdempotencyProgress::Responded(response),
                r#"{"responded":{"status":201,"location":"/posts/40","body":[123,125],"resource":{"forum_id":"2","thread_id":"t17","post_id":null}}}"#,
            ),
        ] {
            let record = IdempotencyRecord {
                fingerprint: [1; 32],
                started_at: Timestamp::from_millis(-7),
                progress,
            };
            let fingerprint = vec!["1"; 32].join(",");
            let recorded = format!(
                r#"{{"fingerprint":[{fingerprint}],"started_at":"1969-12-31T23:59:59.993Z","progress":{recorded}}}"#
            );
            assert_eq!(serde_json::to_string(&record).unwrap(), recorded);
            let record_of: IdempotencyRecord = serde_json::from_str(&recorded).unwrap();
            assert_eq!(record_of, record);
        }
    }
}
