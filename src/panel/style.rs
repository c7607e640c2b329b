//! The one style sheet.

use http::StatusCode;
use xxhash_rust::xxh3::xxh3_128;

use super::answer::{Answer, Kind};

/// Where it is, below the mount. It is shown to anybody: a host's own sign-in page may use it.
pub(super) const PATH: &str = "/style.css";

const SHEET: &str = include_str!("style.css");

pub(super) fn sheet() -> Answer {
    let tag = format!("\"{:032x}\"", xxh3_128(SHEET.as_bytes()));
    Answer::new(StatusCode::OK, Kind::Style(SHEET, tag))
}
