//! Both ends of an attempt: a transport, and a receiver that behaves as badly as it is told; and the worker between.

mod asked;
mod names;
mod paced;
mod receiver;
mod seen;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forum_api::webhook::{HttpTransport, HttpTransportSettings, Resolver, SignedRequest};
use http::HeaderMap;

pub use names::FakeResolver;
pub use paced::ManualWorker;
pub use receiver::{Behavior, ScriptedReceiver};

/// How long an attempt may take that is to end in time.
pub const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

/// How long an attempt may take that is to end by itself.
pub const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// The authority that vouches for `receiver.test`.
pub const ROOT_CERTIFICATE: &str = include_str!("../../certificates/authority.pem");

/// Allows loopback, trusts the test's authority and limits an attempt to `within`, of which connecting has no smaller
/// share: one limit alone can pass.
pub fn settings(within: Duration) -> HttpTransportSettings {
    HttpTransportSettings {
        allow_private: true,
        connect_timeout: LONG_TIMEOUT,
        attempt_timeout: within,
        extra_roots_pem: ROOT_CERTIFICATE.into(),
        ..HttpTransportSettings::default()
    }
}

/// A transport that asks `names`.
pub fn transport(settings: HttpTransportSettings, names: &Arc<FakeResolver>) -> HttpTransport {
    let names = names.clone() as Arc<dyn Resolver>;
    HttpTransport::new(settings).unwrap().resolver(names)
}

/// A transport to which each name is loopback.
pub fn loopback_transport(within: Duration) -> HttpTransport {
    transport(settings(within), &FakeResolver::resolving_to(&["127.0.0.1"]))
}

/// An attempt at `url`.
pub fn test_request(url: &str) -> SignedRequest {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/json".parse().unwrap());
    headers.insert("x-forum-event", "ping".parse().unwrap());
    SignedRequest {
        url: url.into(),
        headers,
        body: Bytes::from_static(b"{\"event\":\"evt_1\"}"),
    }
}
