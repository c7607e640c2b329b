//! The port through which an attempt leaves.

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;

/// An attempt, signed and ready.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where it goes.
    pub url: String,
    /// All of its headers but those of the connection.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// What the receiver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The beginning of the body, at most 4 KiB.
    pub excerpt: String,
}

/// Why there was no answer, in one sentence for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent(pub String);

/// Sends one attempt.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Sends it once, and follows no redirect. It answers within the time that an attempt has.
    ///
    /// # Errors
    /// When there was no answer, or nothing may be sent there.
    async fn post(&self, request: Outgoing) -> Result<Answer, Unsent>;
}
