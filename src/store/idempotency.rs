//! Storage of the responses to requests with an `Idempotency-Key` (contract, section 5).

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Stored;
use crate::model::{ForumId, PostId, ThreadId, Timestamp};
use crate::token::Lookup;

/// A request that came with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The token that sent it: keys are per token.
    pub token: Lookup,
    /// The key, 1-64 visible ASCII characters.
    pub key: String,
    /// The SHA-256 of the request's method, path and body.
    pub request: [u8; 32],
}

impl Attempt {
    /// The ticket of a first run that began at `began`.
    pub fn ticket(&self, began: Timestamp) -> Ticket {
        Ticket {
            token: self.token,
            key: self.key.clone(),
            began,
        }
    }
}

/// A successful response, which a repeat receives again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
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

/// What a key says to a request that comes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is the first: run the command, then settle the ticket.
    First(Ticket),
    /// It succeeded; the response to replay.
    Repeat(Kept),
    /// The first still runs.
    Running,
    /// The first was cut off: nobody knows whether it was carried out.
    Unknown,
    /// The key belongs to another request.
    OtherRequest,
}

/// The right to settle a key's first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The token.
    pub token: Lookup,
    /// The key.
    pub key: String,
    /// When the run began.
    pub began: Timestamp,
}

/// How a first run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded, with this response.
    Answered(Kept),
    /// It was refused and changed nothing: the key is free again.
    DidNotRun,
    /// Nobody knows whether it was carried out.
    Unknown,
}

/// A key as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The request that it belongs to.
    pub request: [u8; 32],
    /// When its first run began.
    pub began: Timestamp,
    /// How that ended; `None` while it runs, and for ever when it was cut off by a crash.
    pub ended: Option<Option<Kept>>,
}

impl Entry {
    /// How long a key is remembered.
    pub const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
    /// How long a run is taken to be still going on; afterwards its outcome is unknown.
    pub const LEASE: Duration = Duration::from_secs(60);

    /// Whether the key is forgotten at `now`.
    pub fn is_over(&self, now: Timestamp) -> bool {
        now >= self.began.plus(Self::LIFE)
    }

    /// What the key says to a request that is not the first.
    pub fn says(self, request: &[u8; 32], now: Timestamp) -> Begin {
        match self.ended {
            _ if self.request != *request => Begin::OtherRequest,
            Some(Some(kept)) => Begin::Repeat(kept),
            None if now < self.began.plus(Self::LEASE) => Begin::Running,
            None | Some(None) => Begin::Unknown,
        }
    }
}

/// Keeps successes and unknown outcomes for 24 hours, and then deletes them.
#[async_trait]
pub trait Idempotency: Send + Sync + 'static {
    /// Takes the key for this request, or tells what it says already: one atomic operation, so that of any number of
    /// like requests at once one alone is the first.
    async fn begin(&self, attempt: &Attempt, now: Timestamp) -> Stored<Begin>;

    /// Notes how the first run ended. A ticket that is not the key's any more changes nothing.
    async fn settle(&self, ticket: &Ticket, outcome: Outcome) -> Stored<()>;
}
