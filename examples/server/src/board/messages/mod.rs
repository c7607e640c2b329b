//! Private messages.

mod copies;
mod folder;
pub mod recipients;
mod send;

pub use copies::{MessageInsert, deliver};
pub use folder::{list, load, mark_read};
pub use send::send;
