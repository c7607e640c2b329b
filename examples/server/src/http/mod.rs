//! The HTTP server: connections, listeners, routes, metrics and health checks.

pub mod client_stream;
mod compression;
pub mod connections;
mod cors;
pub mod listener;
pub mod metrics;
pub mod page;
pub mod paths;
pub mod readiness;
pub mod request_body;
pub mod router;
pub mod slots;
