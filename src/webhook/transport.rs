//! The port through which an attempt leaves.

use async_trait::async_trait;

use super::Outgoing;

/// What the receiver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The beginning of the body, at most 4 KiB.
    pub excerpt: String,
}

#[cfg(feature = "webhooks")]
impl Answer {
    /// The most bytes of an excerpt that are kept.
    pub(crate) const KEPT: usize = 4 * 1024;
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
