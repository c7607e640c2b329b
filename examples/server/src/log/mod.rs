//! The log, on stderr.

mod buffer;
mod line;
mod logger;

pub use logger::Log;
