//! Gives any forum board a complete, safe JSON REST API.
//!
//! A host program implements [`Authority`](host::Authority) and [`Board`](host::Board) over its own data; the library
//! gives it a [`tower_service::Service`] with every v1 endpoint, scoped tokens, unit-metered budgets, safe repeats
//! and a live OpenAPI document. What the host has not written yet answers 501, so that it grows into the traits:
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::clock::TokioRuntime;
//! use forum_api::host::{Authority, Board, Caller, Forums, Result, Standing, Stored};
//! use forum_api::model::{Forum, UserId};
//! use forum_api::{ForumApi, async_trait, store::Stores};
//!
//! struct MyBoard; // holds your pool
//!
//! #[async_trait]
//! impl Authority for MyBoard {
//!     async fn guest(&self) -> Stored<Standing> {
//!         Ok(Standing::new(Forums::none())) // what may a guest see?
//!     }
//!     async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
//!         Ok(Some(Standing::new(Forums::all()))) // what may this member see, now?
//!     }
//! }
//!
//! #[async_trait]
//! impl Board for MyBoard {
//!     async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
//!         Ok(vec![]) // your query; the other twenty methods answer 501 until you write them
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> std::io::Result<()> {
//! let board = Arc::new(MyBoard);
//! let api = ForumApi::builder(board.clone(), board, Stores::in_memory(), TokioRuntime).build();
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, axum::Router::new().fallback_service(api)).await
//! # }
//! ```
//!
//! # Where what is
//!
//! - [`host`]: the traits that a host implements, and how it says no.
//! - [`model`]: the wire types, used by the host and by the JSON alike.
//! - [`ForumApi`], [`Builder`], [`Settings`]: the service.
//! - [`store`]: where tokens, budgets, first answers and webhooks are kept, a backend each.
//! - [`token`], [`budget`], [`scope`]: their rules, as plain values and functions.
//! - [`webhook`]: what is told to whom, and in which states; [`webhook::verify`] for who receives it; `webhook::worker`
//!   (feature) sends it.
//! - `conformance` (feature): the rules that any host's board and stores must keep, as named tests.
//! - [`clock`]: the only doors to time, randomness and tasks.
//!
//! # A request's road
//!
//! Route, token, budget, scope, standing, offline, input, visibility, `Idempotency-Key`, command: one order for every
//! endpoint, and the first step that refuses gives the answer. What a caller may not see is answered as if it were not
//! there. The library checks that itself, beside the board: an item from a forum that the caller's
//! [`Standing`](host::Standing) does not cover is dropped, and logged as the host's fault.
//!
//! # Features
//!
//! None is on by default; each adds and never changes.
//!
//! - `tokio`: [`clock::TokioRuntime`], so that writes run to their end whoever hangs up, and deadlines ring.
//! - `sqlite`: tokens, idempotency keys and webhooks in SQLite.
//! - `webhooks`: a worker sends webhooks over HTTP and TLS, only to addresses that they may go to, and their secrets
//!   are sealed with a key.
//! - `testing`: the in-process client for a host's own tests, and an executor whose time goes on when it is told.
//! - `conformance`: the rules that a host's board and stores must keep, as tests.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]

mod api;
mod base62;
pub mod budget;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod host;
pub mod model;
pub mod scope;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod token;
mod unwind;
pub mod webhook;

pub use api::{Builder, ForumApi, Language, Messages, Settings, openapi};
pub use async_trait::async_trait;
pub use ipnet::IpNet;
