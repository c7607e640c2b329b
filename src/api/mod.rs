//! The HTTP API: the table of endpoints, and the pipeline that every request passes.

pub(crate) mod access;
mod builder;
mod client_ip;
pub(crate) mod context;
pub(crate) mod endpoints;
mod inputs;
pub(crate) mod openapi;
pub(crate) mod pipeline;
mod resources;
pub(crate) mod response;
mod service;
mod settings;
mod usage;

pub use builder::ForumApiBuilder;
pub use client_ip::client_ip;
#[cfg(feature = "panel")]
pub(crate) use client_ip::{PeerIp, peer_ip};
#[cfg(feature = "panel")]
pub(crate) use context::RequestIdGenerator;
pub use openapi::document as openapi_document;
pub use service::ForumApi;
pub use settings::{ApiSettings, BoardDescription};
