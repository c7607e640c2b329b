//! The log, on stderr.

mod buffer;
mod fields;
mod line;
mod logger;

pub use fields::LogFields;
pub use logger::Log;
