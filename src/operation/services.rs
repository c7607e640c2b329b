//! Parts of a service that every call uses.

use super::error::ApiError;
use super::error_messages::ErrorMessages;
use super::extra::ExtraTypes;
use super::response::ApiResponse;
use crate::environment::Environment;
use crate::error_chain::ErrorChain;
use crate::host::{Host, OverloadedError, RequestId};
use crate::scope::Scopes;
use crate::store::Stores;

/// The host, its stores and environment, and the messages of the library's errors.
pub(crate) struct Services {
    pub(crate) host: Host,
    pub(crate) stores: Stores,
    pub(crate) environment: Environment,
    pub(crate) scopes: Scopes,
    pub(crate) extra_types: ExtraTypes,
    pub(crate) error_messages: ErrorMessages,
}

impl Services {
    /// Logs an error and renders it. Every error is passed to this function exactly once, so that it is logged once.
    pub(crate) fn error_response(&self, error: &ApiError, id: RequestId) -> ApiResponse {
        log_error(error, id);
        ApiResponse::error(error, &self.error_messages, id.as_str())
    }
}

/// Logs the cause of an error that the response does not reveal.
fn log_error(error: &ApiError, id: RequestId) {
    let request_id = id.as_str();
    match error {
        ApiError::NotRun(source, _) if OverloadedError::cause_of(&**source).is_some() => {
            tracing::warn!(request_id, error = %ErrorChain(&**source), "backend overloaded");
        }
        ApiError::Internal(source) | ApiError::NotRun(source, _) => {
            tracing::error!(request_id, error = %ErrorChain(&**source), "internal error");
        }
        ApiError::Unauthenticated(reason) => {
            tracing::warn!(request_id, ?reason, "unauthenticated");
        }
        _ => {}
    }
}
