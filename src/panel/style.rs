//! The one style sheet.

use http::StatusCode;

use super::answer::{Answer, Kind};

/// Where it is, below the mount. It is shown to anybody: a host's own sign-in page may use it.
pub(super) const PATH: &str = "/style.css";

const SHEET: &str = include_str!("style.css");

pub(super) fn sheet() -> Answer {
    Answer::new(StatusCode::OK, Kind::Style(SHEET))
}
