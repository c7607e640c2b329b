//! Webhooks: what happened, who is told, and how it is signed and delivered (spec, Events; contract, section 8).
//!
//! Values and functions of values. The feature `webhooks` adds `SystemResolver` and `HttpTransport`, which open
//! connections. `worker` sends what these values describe, `webhook_admin` changes endpoints, and [`store`](crate::store)
//! holds the traits under which both are persisted.

#[cfg(feature = "webhooks")]
mod address;
#[cfg(feature = "webhooks")]
mod aead_cipher;
mod backoff;
mod delivery;
mod encrypted_secret;
mod endpoint;
mod event;
#[cfg(feature = "webhooks")]
mod http;
mod id;
mod key_id;
mod secret;
pub(crate) mod signature;
mod signed_request;
mod topic;
mod topic_set;
mod transport;
mod verify;

#[cfg(feature = "webhooks")]
pub use self::http::{HttpSettings, HttpTransport};
#[cfg(feature = "webhooks")]
pub use address::{Refused, Resolver, SystemResolver, Target, Verdict, verdict};
#[cfg(feature = "webhooks")]
pub use aead_cipher::{KeyBox, KeyTooShort};
pub use backoff::Backoff;
pub use delivery::{ATTEMPTS, Attempted, Delivery, Outcome, Progress, State};
pub use encrypted_secret::{Plain, Sealed, SecretBox};
pub use endpoint::{Endpoint, NothingPending, Pending};
pub use event::{Event, ForumName, Occasion, Surroundings};
pub(crate) use event::{KINDS, Kind};
pub use key_id::{KeyId, KeyMismatch};
pub use secret::{Secret, TooShort};
pub use signed_request::Outgoing;
pub use topic::Topic;
pub use topic_set::{Topics, UnknownTopic};
pub use transport::{Answer, Transport, Unsent};
pub use verify::{Unverified, Verified, verify};
