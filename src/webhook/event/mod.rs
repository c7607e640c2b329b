//! Events of the board, and the bodies of their deliveries.

mod body;
mod constructors;
mod envelope;
mod payload;

pub(crate) use body::delivery_body;
pub(crate) use constructors::{EventKind, event_kinds};
pub use envelope::{Event, EventContext, EventMeta, ForumSummary};
