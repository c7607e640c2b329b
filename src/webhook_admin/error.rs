//! Error of the administration of webhooks.

use thiserror::Error;

use crate::error::{BackendError, BoxError};
use crate::runtime::RandomError;
use crate::webhook::{AddressError, KeyMismatchError, UnknownTopicError};

pub(crate) type AdminResult<T> = Result<T, WebhookAdminError>;

/// Error of a [`WebhookAdmin`](super::WebhookAdmin) operation. `Display` shows a sentence for an operator.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WebhookAdminError {
    /// No endpoint has this id.
    #[error("unknown endpoint")]
    EndpointNotFound,
    /// Webhooks cannot be sent to this URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The board has no such topic.
    #[error(transparent)]
    UnknownTopic(#[from] UnknownTopicError),
    /// The endpoint has no pending secret to activate.
    #[error("no secret is pending")]
    NoPendingSecret,
    /// Another rotation replaced the secret that was to be activated.
    #[error("the pending secret was replaced by another rotation")]
    PendingSecretReplaced,
    /// The endpoint is disabled and cannot be pinged.
    #[error("the endpoint is disabled; enable it first")]
    EndpointDisabled,
    /// The secrets in the store are encrypted with another key.
    #[error(transparent)]
    Key(#[from] KeyMismatchError),
    /// A store, the cipher or the random source failed.
    #[error(transparent)]
    Backend(BoxError),
}

impl From<BackendError> for WebhookAdminError {
    fn from(error: BackendError) -> Self {
        Self::Backend(error.into_inner())
    }
}

impl From<RandomError> for WebhookAdminError {
    fn from(error: RandomError) -> Self {
        Self::Backend(error.into())
    }
}
