//! Errors of the administration.

use thiserror::Error;

use crate::error::{BackendError, BoxError};
use crate::runtime::RandomError;
use crate::webhook::{AddressError, KeyMismatch, NoPendingSecretError, UnknownTopicError};

/// Why an operation was not carried out. It prints as a sentence.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WebhookAdminError {
    /// There is no endpoint with this id.
    #[error("unknown endpoint")]
    EndpointNotFound,
    /// Nothing may be sent to this address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The board never sends this topic.
    #[error(transparent)]
    UnknownTopic(#[from] UnknownTopicError),
    /// There is no secret to activate.
    #[error("no secret is pending")]
    NoPendingSecret,
    /// A disabled endpoint is not pinged.
    #[error("the endpoint is disabled; enable it first")]
    EndpointDisabled,
    /// The store's secrets are encrypted with another key.
    #[error(transparent)]
    Key(#[from] KeyMismatch),
    /// A backend failed.
    #[error(transparent)]
    Backend(BoxError),
}

impl From<BackendError> for WebhookAdminError {
    fn from(fault: BackendError) -> Self {
        Self::Backend(fault.into_inner())
    }
}

impl From<NoPendingSecretError> for WebhookAdminError {
    fn from(_: NoPendingSecretError) -> Self {
        Self::NoPendingSecret
    }
}

impl From<RandomError> for WebhookAdminError {
    fn from(error: RandomError) -> Self {
        Self::Backend(error.into())
    }
}
