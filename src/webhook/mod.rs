//! Webhooks: events, endpoints, deliveries and their signatures (spec, Events; contract, section 8).
//!
//! Values and functions of values. The feature `webhooks` adds `SystemResolver` and `HttpTransport`, which open
//! connections. `worker` sends what these values describe, `webhook_admin` changes endpoints, and
//! [`store`](crate::store) holds the traits under which both are persisted.

#[cfg(feature = "webhooks")]
mod address;
#[cfg(feature = "webhooks")]
mod aead_cipher;
mod delivery;
mod endpoint;
mod event;
#[cfg(feature = "webhooks")]
mod http;
mod id;
mod secret;
pub(crate) mod signing;
mod topic;
mod transport;

#[cfg(feature = "webhooks")]
pub use self::http::{HttpSettings, HttpTransport};
#[cfg(feature = "webhooks")]
pub use address::{Refused, Resolver, SystemResolver, Target, Verdict, verdict};
#[cfg(feature = "webhooks")]
pub use aead_cipher::{KeyBox, KeyTooShort};
pub use delivery::{ATTEMPTS, Attempted, Backoff, Delivery, Outcome, Progress, State};
pub use endpoint::{Endpoint, NothingPending, Pending};
pub use event::{Event, ForumName, Occasion, Surroundings};
pub(crate) use event::{KINDS, Kind};
pub use secret::{KeyId, KeyMismatch, Plain, Sealed, Secret, SecretBox, TooShort};
pub use signing::{Unverified, Verified, verify};
pub use topic::{Topic, Topics, UnknownTopic};
pub use transport::{Answer, Outgoing, Transport, Unsent};
