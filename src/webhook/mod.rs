//! Webhooks: events, endpoints, deliveries and their signatures (`docs/protocol.md`, section 13).
//!
//! Without the feature `webhooks`, the module has types and pure functions only; the feature adds `SystemResolver` and
//! `HttpTransport`, which open connections. `worker` sends deliveries, `webhook_admin` changes endpoints, and
//! [`store`](crate::store) has the traits that persist both.

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
pub use self::http::{HttpTransport, HttpTransportSettings};
#[cfg(feature = "webhooks")]
pub use address::{
    AddressClass, AddressError, EndpointUrl, Resolver, SystemResolver, classify_address,
};
#[cfg(feature = "webhooks")]
pub use aead_cipher::{AeadCipher, KeyTooShortError};
pub use delivery::{
    AttemptOutcome, AttemptRecord, Backoff, Delivery, DeliveryProgress, DeliveryState, MAX_ATTEMPTS,
};
pub use endpoint::{Endpoint, NoPendingSecretError, PendingSecret};
pub(crate) use event::{EVENT_KINDS, EventKind};
pub use event::{Event, EventContext, EventMeta, ForumSummary};
pub use secret::{
    EncryptedSecret, KeyId, KeyMismatch, PlaintextCipher, SecretCipher, SecretTooShortError,
    WebhookSecret,
};
pub use signing::{Verified, VerifyError, verify};
pub use topic::{Topic, TopicSet, UnknownTopicError};
pub use transport::{ReceiverResponse, SignedRequest, Transport, TransportError};
