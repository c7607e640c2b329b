//! The log, on stderr.

mod buffer;
mod format;
mod line;
mod logger;

pub use logger::Log;
