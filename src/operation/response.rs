//! Response of a call: status, body, and the values of its headers.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::error::{ApiError, ApiResult};
use super::error_messages::ErrorMessages;
use crate::model::ErrorBody;
use crate::scope::Scope;
use crate::store::{ResourceIds, StoredResponse};

/// A response before its headers are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    /// The error code of an error response.
    pub(crate) code: Option<&'static str>,
    /// The reason of an error response, for programs.
    pub(crate) reason: Option<String>,
    /// The field, parameter or header that is the cause of an error response.
    pub(crate) field: Option<String>,
    /// Path of the created resource, below the base path.
    pub(crate) location: Option<String>,
    /// Cursor of the next page.
    pub(crate) next: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// The scope that the token lacks.
    pub(crate) missing_scope: Option<Scope>,
    /// True if this is the replay of a stored response.
    pub(crate) replayed: bool,
    /// Ids of the forum, thread or post that is checked before the stored response is replayed.
    pub(crate) shown: ResourceIds,
}

impl ApiResponse {
    pub(crate) fn error(error: &ApiError, messages: &ErrorMessages, request_id: &str) -> Self {
        let (code, message) = error.describe(messages);
        let missing_scope = match error {
            ApiError::MissingScope(scope) => Some(*scope),
            _ => None,
        };
        let body = serde_json::to_vec(&ErrorBody::new(code, message.into_owned(), request_id));
        Self {
            status: error.status(code),
            body: body.unwrap_or_default().into(),
            code: Some(code.as_str()),
            reason: error.reason().map(str::to_owned),
            field: error.field().map(str::to_owned),
            retry_after: error.retry_after(),
            missing_scope,
            ..Self::default()
        }
    }
}

impl From<&ApiResponse> for StoredResponse {
    fn from(response: &ApiResponse) -> Self {
        Self {
            status: response.status.as_u16(),
            location: response.location.clone(),
            body: response.body.clone(),
            resource: response.shown.clone(),
        }
    }
}

impl TryFrom<StoredResponse> for ApiResponse {
    type Error = ApiError;

    fn try_from(stored: StoredResponse) -> ApiResult<Self> {
        Ok(Self {
            status: StatusCode::from_u16(stored.status).map_err(ApiError::internal)?,
            shown: stored.resource,
            location: stored.location,
            body: stored.body,
            replayed: true,
            ..Self::default()
        })
    }
}
