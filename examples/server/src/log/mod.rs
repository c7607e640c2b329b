//! The log, on stderr.

mod buffer;
mod format;
mod line;
mod logger;

pub use buffer::DROPPED_LINES;
pub use logger::Log;
