//! The log, on stderr.

mod buffer;
mod logger;

pub use logger::Log;
