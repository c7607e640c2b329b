//! The API itself: the table of endpoints, and the road that every request takes (contract, section 1).

mod address;
mod answer;
mod args;
mod at;
mod auth;
mod body;
mod builder;
mod complaint;
mod cursor;
mod exit;
mod gate;
mod headers;
mod hex;
mod log;
mod messages;
mod meter;
mod node;
mod once;
mod op;
mod openapi;
mod problem;
mod query;
mod reply;
mod request_id;
mod route;
mod row;
mod service;
mod settings;
mod table;

pub use address::client_address;
pub use builder::Builder;
pub use messages::Messages;
pub use openapi::document as openapi;
pub use service::{ForumApi, Malformed};
pub use settings::{Language, Settings};

#[cfg(feature = "panel")]

/// Every error code there is (contract, section 4).
#[cfg(feature = "test-util")]
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    problem::Code::EVERY.iter().map(|code| code.as_str())
}
