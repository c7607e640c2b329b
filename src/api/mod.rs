//! The API: the table of endpoints, and the pipeline that every request passes (`docs/protocol.md`, section 2).

mod access;
mod authentication;
mod builder;
mod client_ip;
mod context;
mod endpoint;
mod endpoints;
mod error;
mod error_messages;
mod extract;
mod idempotency;
mod openapi;
mod output;
mod pagination;
mod pipeline;
mod rate_limit;
mod request_id;
mod response;
mod router;
mod service;
mod settings;
mod trace;

pub use builder::ForumApiBuilder;
pub use client_ip::client_ip;
pub use context::Malformed;
#[cfg(feature = "test-util")]
pub(crate) use error::ErrorCode;
pub use error_messages::{ErrorMessages, Language};
pub use openapi::document as openapi_document;
pub use service::ForumApi;
pub use settings::ApiSettings;
