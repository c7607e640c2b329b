//! Webhooks: what happened, who is told, and how it is signed and delivered (spec, Events; contract, section 8).
//!
//! The pure half: values and functions of values. Where they are kept is in [`store`](crate::store).

mod backoff;
mod delivery;
mod endpoint;
mod event;
mod id;
mod secret;
mod topic;
mod transport;

pub use backoff::Backoff;
pub use delivery::{ATTEMPTS, Attempted, Delivery, Outcome, Progress, State};
pub use endpoint::{Endpoint, NothingPending, Pending, Topics};
pub use event::Event;
pub use secret::{Plain, Sealed, Secret, SecretBox, TooShort};
pub use topic::Topic;
pub use transport::{Answer, Outgoing, Transport, Unsent};
