//! Private messages: one text, and a copy of it for each party.

mod copies;
mod folder;
mod opening;
mod recipients;
mod sending;

pub use copies::{NewMessage, deliver};
pub use folder::{list, unread};
pub use sending::send;

#[cfg(test)]
pub use folder::{FILTERED, LIST};
