//! Why an operator's wish was not carried out.

use std::fmt;

use crate::host::{BoxError, Fault};
use crate::webhook::{KeyMismatch, NothingPending, Refused, UnknownTopic};

/// Why an operator's wish was not carried out. It prints as a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum Declined {
    /// There is no endpoint with this id.
    NoSuchEndpoint,
    /// Nothing may be sent to this address.
    Address(Refused),
    /// The board never sends this topic.
    Topic(UnknownTopic),
    /// There is no secret to activate.
    NothingPending,
    /// A disabled endpoint is not pinged.
    Disabled,
    /// The store's secrets are encrypted with another key.
    Key(KeyMismatch),
    /// A backend failed.
    Failed(BoxError),
}

impl From<Fault> for Declined {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into_source())
    }
}

impl From<Refused> for Declined {
    fn from(refused: Refused) -> Self {
        Self::Address(refused)
    }
}

impl From<UnknownTopic> for Declined {
    fn from(unknown: UnknownTopic) -> Self {
        Self::Topic(unknown)
    }
}

impl From<NothingPending> for Declined {
    fn from(_: NothingPending) -> Self {
        Self::NothingPending
    }
}

impl From<KeyMismatch> for Declined {
    fn from(mismatch: KeyMismatch) -> Self {
        Self::Key(mismatch)
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEndpoint => f.write_str("there is no endpoint with this id"),
            Self::Address(refused) => refused.fmt(f),
            Self::Topic(unknown) => unknown.fmt(f),
            Self::NothingPending => f.write_str("no new secret waits to be activated"),
            Self::Disabled => f.write_str("the endpoint is disabled: enable it first"),
            Self::Key(mismatch) => mismatch.fmt(f),
            Self::Failed(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for Declined {}
