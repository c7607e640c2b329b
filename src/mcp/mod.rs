//! The operations of the API as tools of the [Model Context Protocol] (feature `mcp`), for language models.
//!
//! [`McpServer`] is a [`tower_service::Service`] like the API. Its tools are the operations of a [`ForumApi`], with those of
//! the host. A call of a tool is one request to the API: it passes the same pipeline and has a request id of its own. It is
//! charged the same units, but at least 2 if the message is longer than 64 KiB or has no known length. The chapter
//! [`guide::mcp`](crate::guide::mcp) describes tools, results and costs.
//!
//! ```
//! use forum_api::mcp::McpServer;
//! use forum_api::{BuildError, ForumApi};
//!
//! fn router(api: ForumApi) -> Result<axum::Router, BuildError> {
//!     let tools = McpServer::new(&api)?;
//!     Ok(axum::Router::new()
//!         .route_service("/mcp", tools)
//!         .route_service("/api/v1/{*rest}", api))
//! }
//! ```
//!
//! [Model Context Protocol]: https://modelcontextprotocol.io
//! [`ForumApi`]: crate::ForumApi

mod argument_list;
mod arguments;
mod contained_json;
mod message;
mod protocol;
mod schema;
mod service;
mod tool;

pub use service::McpServer;
