//! forum-api

pub mod api;
pub mod budget;
pub mod clock;
pub mod host;
pub mod model;
pub mod scope;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod token;

pub use api::ForumApi;
pub use async_trait::async_trait;
