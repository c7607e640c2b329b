//! Private messages: one text, and a copy of it for each party.

mod folder;
mod send;

pub use folder::list;
pub use send::{MessageInsert, deliver, recipients, send};
