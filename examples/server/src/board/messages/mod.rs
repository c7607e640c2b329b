//! Private messages: one text, and a copy of it for each party.

mod folder;
mod send;

#[cfg(test)]
pub use folder::{FILTERED, LIST};
pub use folder::{list, unread};
pub use send::{MessageInsert, deliver, recipients, send};
