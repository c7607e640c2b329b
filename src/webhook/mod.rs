//! Webhooks: events, endpoints, deliveries and their signatures ([protocol](crate::guide::protocol), section 13).
//!
//! The feature `webhooks` adds the checks of endpoint URLs, the resolver and the encryption of secrets. The module `worker`
//! sends deliveries, `webhook_admin` manages endpoints, and [`WebhookStores`](crate::store::WebhookStores) stores both.

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
pub(crate) use address::without_query;
#[cfg(feature = "webhooks")]
pub use address::{AddressClass, EndpointUrl, classify_address};
#[cfg(feature = "webhooks")]
pub use address::{AddressError, AllowedAddresses, Resolver, SystemResolver};
#[cfg(feature = "webhooks")]
pub use aead_cipher::{AeadCipher, KeyTooShortError};
pub use delivery::{
    AttemptOutcome, AttemptRecord, Backoff, Delivery, DeliveryProgress, DeliveryState,
};
pub use endpoint::{Endpoint, PendingSecret};
#[cfg(feature = "webhooks")]
pub(crate) use event::{AnyEventData, concerns, example_event};
pub use event::{Event, EventContext, EventMeta, ForumSummary};
pub(crate) use event::{EventKind, delivery_body, event_kinds};
pub use secret::{
    EncryptedSecret, KeyId, KeyMismatchError, PlaintextCipher, SecretCipher, SecretTooShortError,
    WebhookSecret,
};
pub use signing::{Verified, VerifyError, verify};
pub use topic::{Topic, TopicSet, UnknownTopicError};
#[cfg(feature = "webhooks")]
pub(crate) use transport::header_lines;
pub use transport::{ReceiverResponse, SignedRequest, Transport, TransportError};
