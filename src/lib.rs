//! Adds a JSON REST API to an existing forum.
//!
//! A host (a board server in Rust) implements [`Authorizer`](host::Authorizer) and [`Board`](host::Board) over its own
//! database. The library provides a [`tower_service::Service`] with all endpoints of the API, scoped tokens, rate limits,
//! idempotent writes, an OpenAPI 3.1 document, signed webhooks and a control panel. An endpoint whose
//! [`Board`](host::Board) method the host does not implement returns 501:
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::{ForumApi, async_trait, host::*, model::*, store::Stores};
//!
//! struct MyBoard; // holds your pool
//!
//! #[async_trait]
//! impl Authorizer for MyBoard {
//!     async fn guest_access(&self, _request: &RequestInfo) -> BackendResult<Access> {
//!         Ok(Access::new(VisibleForums::all())) // the forums that a guest can see
//!     }
//!     async fn member_access(&self, _owner: &UserId, _request: &RequestInfo) -> BackendResult<Option<Access>> {
//!         Ok(Some(Access::new(VisibleForums::all()))) // the forums that this member can see now
//!     }
//! }
//!
//! #[async_trait]
//! impl Board for MyBoard {
//!     async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
//!         Err(BoardError::NotImplemented) // the forum of a thread, post or poll, for writes
//!     }
//!     async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
//!         Ok(vec![].into()) // your query; every other method returns 501 until you implement it
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), BoxError> {
//!     tracing_subscriber::fmt().init(); // logs each request, and the cause of each 500
//!     let api = ForumApi::builder(Arc::new(MyBoard), Stores::in_memory()).axum_0_8().build()?;
//!     let app = axum::Router::new().fallback_service(api);
//!     // Guests have budgets by address.
//!     let service = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//!     Ok(axum::serve(listener, service).await?)
//! }
//! ```
//!
//! The [`guide`] explains each step, from this example to a complete board. Start there.
//!
//! A request passes the steps of the library, then the board's code. The first step that refuses it determines the
//! response:
//!
//! ```text
//!               ForumApi                                                      host
//! request ───▶ route, token ─────── TokenStore
//!              budget ───────────── RateLimitStore
//!              scope
//!              access, online ─────────────────────────────────────────────▶ Authorizer
//!              path, query, body
//!              visibility of the path, for writes ─────────────────────────▶ Board::containing_forum
//!              idempotency key ──── IdempotencyStore
//!              handler ────────────────────────────────────────────────────▶ a method of Board
//! response ◀── visibility of the result
//! ```
//!
//! An event is written with its change, and delivered later:
//!
//! ```text
//! host ── one transaction: the change, and the event into the outbox
//!                                                      │
//! Worker ── one delivery for each endpoint whose owner sees the forum
//!                                                      │
//! receiver ◀── signed POST, repeated until a 2xx response or six attempts
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | [`guide`] | Chapters about embedding, testing and operating the API. |
//! | [`host`] | The traits that a host implements, the caller and its access, errors of a board. |
//! | [`model`] | Resources, requests, ids, times and pages. |
//! | [`operation`] | The type of an operation, for operations that only this board has. |
//! | [`store`] | Storage of tokens, rate limits, idempotency keys, webhooks, the audit log and usage: the traits and their backends. |
//! | [`token`], [`scope`], [`rate_limit`] | Format, states and issue of tokens; scopes and surfaces; windows and budgets. |
//! | [`audit`] | Entries of the audit log. |
//! | [`webhook`] | Events, endpoints, deliveries and signatures. [`webhook::verify`] is for receivers. |
//! | `worker`, `webhook_admin` | Delivery worker and administration of webhook endpoints (feature `webhooks`). |
//! | `mcp` | The operations of the API as tools of the Model Context Protocol (feature `mcp`). |
//! | `panel` | Control panel for the board's administrators (feature `panel`). |
//! | `reference` | Reference page of the API (feature `reference`). |
//! | `metrics` | Names, units and labels of the metrics (feature `metrics`). |
//! | `conformance` | Tests for a host's board and stores (feature `conformance`). |
//! | `test_util` | In-process client for tests (feature `test-util`). |
//! | [`runtime`] | Interfaces to the clock, the random source and the executor. |
//!
//! The root contains the service ([`ForumApi`], [`ForumApiBuilder`], [`ApiSettings`], [`BoardDescription`],
//! [`ErrorMessages`], [`Language`]), the [`Environment`] that all services of a board share, the error of their builders
//! ([`BuildError`]), the body of their responses ([`ResponseBody`]), the request extension [`MalformedRequest`], and the
//! functions [`client_ip`], [`mask_secrets`] and [`openapi_document`], and `event_feed` (feature `webhooks`). It re-exports
//! `async_trait` and [`IpNet`].
//!
//! # Features
//!
//! All features are additive. No feature is enabled by default.
//!
//! - `tokio`: [`runtime::TokioRuntime`]. Writes complete even if the client disconnects, and request timeouts are
//!   enforced.
//! - `sqlite`: stores for tokens, idempotency keys, webhooks, the audit log and usage in SQLite.
//! - `sqlite-trace`: log lines of the statements in SQLite at level `TRACE`, with rusqlite 0.33 or later.
//! - `postgres`: the same stores in Postgres, for any number of nodes, through a driver of the host. Enables `tokio`.
//! - `tokio-postgres-0_7`: the driver for a pool of deadpool-postgres 0.14 with tokio-postgres 0.7, with or without TLS.
//! - `redis`: a store for rate limits in Redis or Valkey, for any number of nodes, with or without TLS.
//! - `webhooks`: the delivery worker, its HTTPS client with address filter, and encryption of webhook secrets.
//! - `panel`: the control panel. It manages webhooks with the feature `webhooks`.
//! - `reference`: the reference page, rendered from the OpenAPI document.
//! - `axum-0_8`: the original URI and the peer address of requests in a router of axum 0.8.
//! - `mcp`: the operations of the API as tools of the Model Context Protocol.
//! - `metrics`: counters, gauges and histograms through the `metrics` facade.
//! - `test-util`: an in-process client for tests.
//! - `conformance`: tests for a host's board and stores. Enables `test-util`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unreachable_pub)]
// The handling of a request must never panic. Tests may panic.
#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)
)]

/// Implements a trait for `Arc<T>` and `Box<T>`: each method calls the same method of the inner value. The list must
/// name all methods, async methods first. Clippy reports methods that are missing in the list.
macro_rules! impl_for_pointers {
    (impl $trait:ident for $pointer:ident {
        $(async fn $async_name:ident($($async_arg:ident: $async_type:ty),*) -> $async_output:ty;)*
        $(fn $name:ident($($arg:ident: $type:ty),*) -> $output:ty;)*
    }) => {
        #[async_trait::async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: $trait + ?Sized> $trait for $pointer<T> {
            $(async fn $async_name(&self, $($async_arg: $async_type),*) -> $async_output {
                (**self).$async_name($($async_arg),*).await
            })*
            $(fn $name(&self, $($arg: $type),*) -> $output {
                (**self).$name($($arg),*)
            })*
        }
    };
    ($trait:ident $methods:tt) => {
        const _: () = {
            use std::sync::Arc;
            impl_for_pointers!(impl $trait for Arc $methods);
            impl_for_pointers!(impl $trait for Box $methods);
        };
    };
}

/// Implements a tower service that is always ready, and its method `respond`. `$call` returns the future of
/// the response.
macro_rules! impl_service {
    ($type:ident, |$service:ident, $request:ident| $call:expr) => {
        impl $type {
            /// Returns the response to a request, as the tower service does. Servers without tower services call it:
            /// see the [guide](crate::guide::mounting#other-servers).
            pub async fn respond<B>(
                &self,
                request: http::Request<B>,
            ) -> http::Response<crate::ResponseBody>
            where
                B: http_body::Body + Send + 'static,
                B::Data: bytes::Buf + Send,
                B::Error: Into<crate::host::BoxError>,
            {
                let mut service = self.clone();
                let Ok(response) = tower_service::Service::call(&mut service, request).await;
                response
            }
        }

        impl<B> tower_service::Service<http::Request<B>> for $type
        where
            B: http_body::Body + Send + 'static,
            B::Data: bytes::Buf + Send,
            B::Error: Into<crate::host::BoxError>,
        {
            type Response = http::Response<crate::ResponseBody>;
            type Error = std::convert::Infallible;
            type Future = crate::runtime::BoxFuture<'static, Result<Self::Response, Self::Error>>;

            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), Self::Error>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, $request: http::Request<B>) -> Self::Future {
                let $service = self;
                $call
            }
        }
    };
}

/// Implements `Debug` with the type's name only, for secrets and for values without readable state.
macro_rules! opaque_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}

/// Implements `Debug` with the type's name and its text in parentheses.
macro_rules! display_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self)
            }
        }
    };
}

/// Implements `Debug` with these values only.
macro_rules! debug_fields {
    ($type:ident, |$it:ident| $($name:ident: $value:expr),+) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($name), &$value))+
                    .finish_non_exhaustive()
            }
        }
    };
}

mod api;
pub mod audit;
mod base62;
mod build_error;
#[cfg(feature = "conformance")]
pub mod conformance;
mod driver_error;
mod environment;
mod error;
mod error_chain;
#[cfg(feature = "webhooks")]
mod feed;
pub mod guide;
pub mod host;
#[cfg(any(feature = "panel", feature = "reference"))]
mod html;
mod http_util;
mod lock;
mod mask_secrets;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(not(feature = "metrics"))]
mod metrics;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod model;
pub mod operation;
#[cfg(feature = "panel")]
pub mod panel;
pub mod rate_limit;
#[cfg(feature = "reference")]
pub mod reference;
pub mod runtime;
pub mod scope;
pub mod store;
mod task;
#[cfg(feature = "test-util")]
pub mod test_util;
#[cfg(any(feature = "redis", feature = "tokio-postgres-0_7", feature = "webhooks"))]
mod tls;
pub mod token;
pub mod webhook;
#[cfg(feature = "webhooks")]
pub mod webhook_admin;
#[cfg(feature = "webhooks")]
pub mod worker;

pub use api::{
    ApiSettings, BoardDescription, ForumApi, ForumApiBuilder, client_ip, openapi_document,
};
pub use async_trait::async_trait;
pub use build_error::BuildError;
pub use environment::Environment;
#[cfg(feature = "webhooks")]
pub use feed::event_feed;
pub use http_util::ResponseBody;
pub use ipnet::IpNet;
pub use mask_secrets::mask_secrets;
pub use operation::error::MalformedRequest;
pub use operation::error_messages::{ErrorMessages, Language};
