//! The HTTP API: the table of endpoints, and the pipeline that every request passes.

mod access;
mod builder;
mod context;
mod endpoints;
mod inputs;
mod openapi;
mod pipeline;
mod rate_limit;
mod resources;
mod response;
mod service;
mod settings;
mod usage;

pub use builder::ForumApiBuilder;
#[cfg(feature = "panel")]
pub(crate) use context::{PeerIp, RequestIdGenerator};
#[cfg(feature = "panel")]
pub(crate) use endpoints::find_operation;
pub use openapi::document as openapi_document;
pub use rate_limit::client_ip;
#[cfg(feature = "panel")]
pub(crate) use rate_limit::peer_ip;
pub use service::ForumApi;
pub use settings::ApiSettings;
