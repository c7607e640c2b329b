//! Events of the board, and the bodies of their deliveries.

mod body;
mod constructors;
mod envelope;
mod payload;

pub(crate) use constructors::{EVENT_KINDS, EventKind};
pub use envelope::{Event, EventContext, EventMeta, ForumSummary};
