//! Webhooks: what happened, who is told, and how it is signed and delivered (spec, Events; contract, section 8).
//!
//! Values and functions of values, but for what the feature `webhooks` brings: `Registry` changes endpoints, `worker`
//! does what the values say, and `SystemResolver` and `HttpTransport` are its ways out. Where all of it is kept is in
//! [`store`](crate::store).

#[cfg(feature = "webhooks")]
mod address;
mod backoff;
#[cfg(feature = "webhooks")]
mod declined;
mod delivery;
mod endpoint;
mod event;
#[cfg(feature = "webhooks")]
mod http;
mod id;
mod insert;
#[cfg(feature = "webhooks")]
mod key_box;
mod key_id;
mod outgoing;
#[cfg(feature = "webhooks")]
mod registry;
mod sealed;
mod secret;
pub(crate) mod signature;
mod topic;
mod topics;
mod transport;
mod verify;
#[cfg(feature = "webhooks")]
pub mod worker;

#[cfg(feature = "webhooks")]
pub use self::http::{HttpSettings, HttpTransport};
#[cfg(feature = "webhooks")]
pub use address::{Refused, Resolver, SystemResolver, Target, Verdict, verdict};
pub use backoff::Backoff;
#[cfg(feature = "webhooks")]
pub use declined::Declined;
pub use delivery::{ATTEMPTS, Attempted, Delivery, Outcome, Progress, State};
pub use endpoint::{Endpoint, NothingPending, Pending};
pub use event::{Event, ForumName, Occasion, Surroundings};
pub(crate) use event::{KINDS, Kind};
#[cfg(feature = "webhooks")]
pub use key_box::{KeyBox, KeyTooShort};
pub use key_id::{KeyId, KeyMismatch};
pub use outgoing::Outgoing;
#[cfg(feature = "webhooks")]
pub use registry::{Registration, Registry, Revealed};
pub use sealed::{Plain, Sealed, SecretBox};
pub use secret::{Secret, TooShort};
pub use topic::Topic;
pub use topics::{Topics, UnknownTopic};
pub use transport::{Answer, Transport, Unsent};
pub use verify::{Unverified, Verified, verify};
