//! Why there is no such page, or why a form was not taken.

use http::StatusCode;

use super::answer::Answer;
use super::layout;
use crate::host::{BoxError, Fault, Overloaded};
use crate::task::PanicError;
use crate::webhook_admin::Declined;

/// Why a request is refused.
#[derive(Debug)]
pub(super) enum Problem {
    /// There is no such page, or none for this member.
    Absent,
    /// The form is none of this session's, or comes from elsewhere.
    Forged,
    /// The form cannot be read.
    Unreadable,
    /// Something failed behind the panel.
    Internal(BoxError),
}

impl Problem {
    pub(super) fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }

    /// The page that says so. What failed stays in the log.
    pub(super) fn answer(self, mount: &str) -> Answer {
        if let Self::Internal(source) = &self {
            tracing::error!(error = %source, "internal error");
        }
        let (status, title, text) = self.words();
        let page = layout::bare(mount, title, text);
        match self.overloaded() {
            Some(Overloaded { retry_after }) => {
                Answer::page(StatusCode::SERVICE_UNAVAILABLE, page).retry_after(retry_after)
            }
            None => Answer::page(status, page),
        }
    }

    fn overloaded(&self) -> Option<Overloaded> {
        match self {
            Self::Internal(source) => Overloaded::cause_of(&**source),
            _ => None,
        }
    }

    fn words(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::Absent => (
                StatusCode::NOT_FOUND,
                "Not found",
                "There is no such page here.",
            ),
            Self::Forged => (
                StatusCode::FORBIDDEN,
                "Refused",
                "This form did not come from a page of your present session, so nothing was changed. Go back, reload \
                 the page, and send it again.",
            ),
            Self::Unreadable => (
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

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Internal(fault.into_source())
    }
}

impl From<PanicError> for Problem {
    fn from(panicked: PanicError) -> Self {
        Self::internal(panicked)
    }
}

/// What is declined for a reason that the page does not show beside a field.
impl From<Declined> for Problem {
    fn from(declined: Declined) -> Self {
        match declined {
            Declined::NoSuchEndpoint => Self::Absent,
            Declined::Failed(source) => Self::Internal(source),
            other => Self::internal(other),
        }
    }
}
