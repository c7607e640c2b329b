//! Gives any forum board a complete, safe JSON REST API.
//!
//! A host program implements [`Authorizer`](host::Authorizer) and [`Board`](host::Board) over its own data; the library
//! gives it a [`tower_service::Service`] with every v1 endpoint, scoped tokens, unit-metered budgets, safe repeats, a
//! live OpenAPI document and webhooks. What the host has not written yet answers 501, so that it grows into the traits:
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::{ForumApi, async_trait, runtime::TokioRuntime, host::*, model::*, store::Stores};
//!
//! struct MyBoard; // holds your pool
//!
//! #[async_trait]
//! impl Authorizer for MyBoard {
//!     async fn guest_access(&self) -> BackendResult<Access> {
//!         Ok(Access::new(VisibleForums::none())) // the forums that a guest can see
//!     }
//!     async fn member_access(&self, _owner: &UserId) -> BackendResult<Option<Access>> {
//!         Ok(Some(Access::new(VisibleForums::all()))) // the forums that this member can see now
//!     }
//! }
//!
//! #[async_trait]
//! impl Board for MyBoard {
//!     async fn list_forums(&self, _caller: &Caller) -> BoardResult<Vec<Forum>> {
//!         Ok(vec![]) // your query; every other method returns 501 until you implement it
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     let board = Arc::new(MyBoard);
//!     let api = ForumApi::builder(board.clone(), board, Stores::in_memory(), TokioRuntime).build();
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//!     axum::serve(listener, axum::Router::new().fallback_service(api)).await
//! }
//! ```
//!
//! # Where what is
//!
//! - [`guide`]: how a board gets this API, a chapter at a time. **Begin there.**
//! - [`host`]: the traits that a host implements, and how it says no.
//! - [`model`]: the wire types, used by the host and by the JSON alike.
//! - [`ForumApi`], [`Builder`], [`Settings`]: the service. [`Environment`]: what services and worker share.
//! - [`store`]: where tokens, budgets, first answers and webhooks are kept, a backend each.
//! - [`token`], [`rate_limit`], [`scope`]: their rules, as plain values and functions.
//! - [`webhook`]: events, endpoints, deliveries and their signatures; [`webhook::verify`] for receivers.
//! - `worker`, `webhook_admin` (feature `webhooks`): the worker that sends deliveries, and what an operator does with
//!   endpoints.
//! - `panel` (feature): the control panel, a service beside the API for the board's administrators.
//! - `swagger_ui` (feature): the interactive reference, a service beside the API.
//! - `metrics` (feature): what is counted and timed, in a table.
//! - `conformance` (feature): the rules that any host's board and stores must keep, as named tests.
//! - [`runtime`]: the doors to time, randomness and tasks.
//!
//! Sections in brackets are those of `docs/protocol.md` in the repository, which describes the protocol.
//!
//! # Features
//!
//! None is on by default; each adds and never changes.
//!
//! - `tokio`: [`runtime::TokioRuntime`], so that writes run to their end whoever hangs up, and deadlines ring.
//! - `sqlite`: tokens, idempotency keys and webhooks in SQLite.
//! - `postgres`: tokens, idempotency keys and webhooks in Postgres, for any number of nodes.
//! - `redis`: budgets in Redis or Valkey, shared by any number of nodes.
//! - `webhooks`: a worker sends webhooks over HTTP and TLS, only to addresses that they may go to, and their secrets
//!   are sealed with a key.
//! - `panel`: the control panel; it brings `webhooks` along.
//! - `swagger-ui`: the interactive reference, a page on which calls can be tried; its files are 0.5 MB.
//! - `metrics`: counts and times for the operator, through the facade of that name.
//! - `test-util`: the in-process client for a host's own tests, and an executor whose time goes on when it is told.
//! - `conformance`: the rules that a host's board and stores must keep, as tests.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unreachable_pub)]
// The road of a request never panics. A test may.
#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

/// A type that prints as its name only: what it holds is secret, or has nothing to say.
macro_rules! opaque_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}

/// A type that prints with the settings of what it wraps, and with nothing else of it.
macro_rules! settings_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    .field("settings", &self.0.settings)
                    .finish_non_exhaustive()
            }
        }
    };
}

mod api;
mod base62;
#[cfg(feature = "conformance")]
pub mod conformance;
mod environment;
mod error;
pub mod guide;
pub mod host;
mod http_util;
#[cfg(not(feature = "metrics"))]
mod metrics;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod model;
#[cfg(feature = "panel")]
pub mod panel;
pub mod rate_limit;
pub mod runtime;
pub mod scope;
pub mod store;
#[cfg(feature = "swagger-ui")]
pub mod swagger_ui;
mod task;
#[cfg(feature = "test-util")]
pub mod test_util;
pub mod token;
pub mod webhook;
#[cfg(feature = "webhooks")]
pub mod webhook_admin;
#[cfg(feature = "webhooks")]
pub mod worker;

pub use api::{
    ApiSettings, ErrorMessages, ForumApi, ForumApiBuilder, InvalidHeader, Language, client_ip,
    openapi_document,
};
pub use async_trait::async_trait;
pub use environment::Environment;
pub use ipnet::IpNet;
