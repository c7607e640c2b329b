//! The HTTP server: connections, routes, metrics and health checks.

pub mod connections;
mod cors;
pub mod metrics;
pub mod readiness;
pub mod router;
