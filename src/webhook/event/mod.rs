//! Events of the board, and the bodies of their deliveries.

#[cfg(feature = "webhooks")]
mod any_data;
mod body;
mod constructors;
mod envelope;
mod payload;

#[cfg(feature = "webhooks")]
pub(crate) use any_data::AnyEventData;
#[cfg(feature = "webhooks")]
pub(crate) use body::concerns;
pub(crate) use body::delivery_body;
#[cfg(feature = "webhooks")]
pub(crate) use constructors::example_event;
pub(crate) use constructors::{EventKind, event_kinds};
pub use envelope::{Event, EventContext, EventMeta, ForumSummary};
