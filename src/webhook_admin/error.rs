//! Errors of the administration.

use thiserror::Error;

use crate::error::{BoxError, Fault};
use crate::runtime::NoEntropy;
use crate::webhook::{KeyMismatch, NothingPending, Refused, UnknownTopic};

/// Why an operation was not carried out. It prints as a sentence.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Declined {
    /// There is no endpoint with this id.
    #[error("unknown endpoint")]
    NoSuchEndpoint,
    /// Nothing may be sent to this address.
    #[error(transparent)]
    Address(#[from] Refused),
    /// The board never sends this topic.
    #[error(transparent)]
    Topic(#[from] UnknownTopic),
    /// There is no secret to activate.
    #[error("no secret is pending")]
    NothingPending,
    /// A disabled endpoint is not pinged.
    #[error("the endpoint is disabled; enable it first")]
    Disabled,
    /// The store's secrets are encrypted with another key.
    #[error(transparent)]
    Key(#[from] KeyMismatch),
    /// A backend failed.
    #[error(transparent)]
    Failed(BoxError),
}

impl From<Fault> for Declined {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into_source())
    }
}

impl From<NothingPending> for Declined {
    fn from(_: NothingPending) -> Self {
        Self::NothingPending
    }
}

impl From<NoEntropy> for Declined {
    fn from(error: NoEntropy) -> Self {
        Self::Failed(error.into())
    }
}
