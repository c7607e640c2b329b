//! Why a request is refused.

use http::StatusCode;

use super::components::bare_document;
use super::response::PageResponse;
use crate::host::{BoxError, Fault, Overloaded};
use crate::task::PanicError;
use crate::webhook_admin::Declined;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum PanelError {
    /// The page does not exist, or not for this member.
    #[error("not found")]
    NotFound,
    /// The form does not belong to this session, or comes from another site.
    #[error("forbidden")]
    Forbidden,
    #[error("the form cannot be read")]
    BadForm,
    #[error(transparent)]
    Internal(BoxError),
}

impl PanelError {
    pub(super) fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }

    /// Returns the error's page. The source of an internal error is written to the log only.
    pub(super) fn into_response(self, mount: &str) -> PageResponse {
        let (status, title, text) = self.page_text();
        let page = bare_document(mount, title, text);
        let Self::Internal(source) = self else {
            return PageResponse::page(status, page);
        };
        tracing::error!(error = %source, "internal error");
        match Overloaded::cause_of(&*source) {
            Some(Overloaded { retry_after }) => {
                PageResponse::page(StatusCode::SERVICE_UNAVAILABLE, page).retry_after(retry_after)
            }
            None => PageResponse::page(status, page),
        }
    }

    fn page_text(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "Not found",
                "There is no such page here.",
            ),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "Refused",
                "This form did not come from a page of your present session, so nothing was changed. Go back, reload \
                 the page, and send it again.",
            ),
            Self::BadForm => (
                StatusCode::BAD_REQUEST,
                "Not understood",
                "The form could not be read, so nothing was changed. Go back and send it again.",
            ),
            Self::Internal(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong",
                "The board could not do this now. The reason is in its log.",
            ),
        }
    }
}

impl From<Fault> for PanelError {
    fn from(fault: Fault) -> Self {
        Self::Internal(fault.into_source())
    }
}

impl From<PanicError> for PanelError {
    fn from(panicked: PanicError) -> Self {
        Self::internal(panicked)
    }
}

/// The errors that no page shows beside a field.
impl From<Declined> for PanelError {
    fn from(declined: Declined) -> Self {
        match declined {
            Declined::NoSuchEndpoint => Self::NotFound,
            Declined::Failed(source) => Self::Internal(source),
            other => Self::internal(other),
        }
    }
}
