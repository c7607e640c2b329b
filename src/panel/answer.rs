//! An answer before its headers are attached.

use std::time::Duration;

use http::StatusCode;
use maud::Markup;

use super::problem::Problem;

/// What a step of the road gives.
pub(super) type Outcome = Result<Answer, Problem>;

/// What the exit makes a response of.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) kind: Kind,
    pub(super) retry_after: Option<Duration>,
}

/// What is in it.
pub(super) enum Kind {
    /// A page.
    Page(String),
    /// The way to another page.
    Elsewhere(String),
    /// The style sheet.
    Style(&'static str),
}

impl Answer {
    pub(super) fn page(status: StatusCode, page: Markup) -> Self {
        Self::new(status, Kind::Page(page.into_string()))
    }

    /// After a `POST`, so that a reload repeats nothing.
    pub(super) fn see_other(path: String) -> Self {
        Self::new(StatusCode::SEE_OTHER, Kind::Elsewhere(path))
    }

    pub(super) fn new(status: StatusCode, kind: Kind) -> Self {
        Self {
            status,
            kind,
            retry_after: None,
        }
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self {
            retry_after: Some(wait),
            ..self
        }
    }
}
