//! The API itself: the table of endpoints, and the road that every request takes (contract, section 1).

mod access;
mod authentication;
mod builder;
mod client_ip;
mod endpoint;
mod endpoints;
mod error;
mod error_messages;
mod exit;
mod extract;
mod headers;
mod hex;
mod idempotency;
mod openapi;
mod output;
mod pagination;
mod rate_limit;
mod request_id;
mod response;
mod router;
mod row;
mod service;
mod settings;
mod trace;

pub use builder::Builder;
pub use client_ip::client_address;
pub use error_messages::Messages;
pub use openapi::document as openapi;
pub use service::{ForumApi, Malformed};
pub use settings::{Language, Settings};

/// Every error code there is (contract, section 4).
#[cfg(feature = "test-util")]
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    error::Code::EVERY.iter().map(|code| code.as_str())
}
