//! Webhook transport, with a receiver of scripted behavior and a fake resolver.

mod receiver;
mod recorded_request;
mod resolver;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forum_api::webhook::{
    AllowedAddresses, HttpTransport, HttpTransportSettings, Resolver, SignedRequest,
};
use http::HeaderMap;

pub use receiver::{Behavior, ScriptedReceiver};
pub(crate) use recorded_request::parse_headers;
pub use resolver::FakeResolver;

/// Limit of an attempt that times out.
pub const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

/// Limit of an attempt that does not time out.
pub const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// Root of the certificates of `receiver.test`.
pub const ROOT_CERTIFICATE: &str = include_str!("../../certificates/authority.pem");

/// Returns settings that allow loopback and trust the root certificate of the tests. Only the whole attempt has a time
/// limit, which is `limit`.
pub fn settings(limit: Duration) -> HttpTransportSettings {
    let mut settings = HttpTransportSettings::default();
    settings.allowed_addresses = AllowedAddresses::Private;
    settings.connect_timeout = LONG_TIMEOUT;
    settings.attempt_timeout = limit;
    settings.extra_roots_pem = ROOT_CERTIFICATE.into();
    settings
}

pub fn transport(settings: HttpTransportSettings, resolver: &Arc<FakeResolver>) -> HttpTransport {
    let resolver = resolver.clone() as Arc<dyn Resolver>;
    HttpTransport::new(settings).unwrap().resolver(resolver)
}

/// Creates a transport that resolves each name to loopback.
pub fn loopback_transport(limit: Duration) -> HttpTransport {
    transport(settings(limit), &FakeResolver::resolving_to(&["127.0.0.1"]))
}

pub fn test_request(url: &str) -> SignedRequest {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/json".parse().unwrap());
    headers.insert("x-forum-event", "ping".parse().unwrap());
    SignedRequest { url: url.into(), headers, body: Bytes::from_static(b"{\"event\":\"evt_1\"}") }
}
