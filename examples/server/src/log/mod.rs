//! The log, on stderr.

mod buffer;
mod format;
mod line;
mod logger;
mod span_fields;

pub use buffer::DROPPED_LINES;
pub use logger::{Log, line_layer};

pub use crate::options::LogFormat;
