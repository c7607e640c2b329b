//! forum-api

pub mod budget;
pub mod clock;
pub mod host;
pub mod model;
pub mod scope;
pub mod store;
pub mod token;

pub use async_trait::async_trait;
