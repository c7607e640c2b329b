//! Storage of the responses to requests with an `Idempotency-Key` (`docs/protocol.md`, section 9).

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::BackendResult;
use crate::model::{ForumId, PostId, ThreadId, Timestamp};
use crate::token::Lookup;

/// A request with an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The token of the request: keys are per token.
    pub token: Lookup,
    /// The key, 1-64 visible ASCII characters.
    pub key: String,
    /// The SHA-256 of the request's method, path and body.
    pub fingerprint: [u8; 32],
}

impl IdempotentRequest {
    /// The reservation of a first run that began at `began`.
    pub fn reservation(&self, began: Timestamp) -> Reservation {
        Reservation {
            token: self.token,
            key: self.key.clone(),
            started_at: began,
        }
    }
}

/// A successful response, which a repeat receives again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// Its status, 200 to 299.
    pub status: u16,
    /// Its `location`, if it has one.
    pub location: Option<String>,
    /// Its body.
    pub body: Bytes,
    /// Ids of what it is about. A repeat receives it only while the caller can see that.
    pub resource: ResourceIds,
}

/// The ids of what a response is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceIds {
    /// The forum; `None` if the response is about nothing in a forum, such as a private message.
    pub forum_id: Option<ForumId>,
    /// The thread that was created or followed, or in which the post was created; `None` for anything else.
    pub thread_id: Option<ThreadId>,
    /// The post that was created; `None` for anything else.
    pub post_id: Option<PostId>,
}

/// Result of the look-up of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginOutcome {
    /// The key is new and reserved: run the command, then settle it.
    Reserved(Reservation),
    /// The first run succeeded; the response to replay.
    Replay(StoredResponse),
    /// The first run has not ended.
    InProgress,
    /// The first run was interrupted: its outcome is unknown.
    OutcomeUnknown,
    /// The key belongs to another request.
    KeyReused,
}

/// The right to settle a key's first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The token.
    pub token: Lookup,
    /// The key.
    pub key: String,
    /// When the run began.
    pub started_at: Timestamp,
}

/// Outcome of a first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It succeeded, with this response.
    Responded(StoredResponse),
    /// It was refused and changed nothing: the key is free again.
    NotExecuted,
    /// The outcome is unknown.
    OutcomeUnknown,
}

/// Record of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The request that it belongs to.
    pub fingerprint: [u8; 32],
    /// When its first run began.
    pub started_at: Timestamp,
    /// Its end; `None` while it runs, and permanently when a crash interrupted it.
    pub completion: Option<Option<StoredResponse>>,
}

impl IdempotencyRecord {
    /// Duration of the storage of a key.
    pub const TTL: Duration = Duration::from_secs(24 * 60 * 60);
    /// Duration after which the outcome of a run without end is unknown.
    pub const LEASE: Duration = Duration::from_secs(60);

    /// Returns whether the key is expired at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.started_at.saturating_add(Self::TTL)
    }

    /// Result of the look-up by a later request.
    pub fn outcome_for(self, request: &[u8; 32], now: Timestamp) -> BeginOutcome {
        match self.completion {
            _ if self.fingerprint != *request => BeginOutcome::KeyReused,
            Some(Some(kept)) => BeginOutcome::Replay(kept),
            None if now < self.started_at.saturating_add(Self::LEASE) => BeginOutcome::InProgress,
            None | Some(None) => BeginOutcome::OutcomeUnknown,
        }
    }
}

/// Stores successful responses and unknown outcomes for 24 hours.
#[async_trait]
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Reserves the key for this request, or returns its record, in one atomic operation: of concurrent requests only one is
    /// the first.
    async fn begin(
        &self,
        attempt: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome>;

    /// Records the outcome of the first run. An outdated reservation changes nothing.
    async fn complete(&self, ticket: &Reservation, outcome: Completion) -> BackendResult<()>;
}
