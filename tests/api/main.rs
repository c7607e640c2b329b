//! The HTTP API as `docs/protocol.md` describes it: one file for each subject.

mod support;

mod authentication;
mod bodies;
mod builder;
mod client_disconnects;
mod cursors;
mod endpoints;
mod error_headers;
mod failures;
mod feed;
mod headers;
mod host_operations;
mod idempotency;
mod languages;
mod log_contents;
mod malformed_results;
mod mcp;
mod metrics;
mod model;
mod openapi;
mod operations;
mod paths;
mod pipeline_order;
mod queries;
mod rate_limits;
mod recorded;
mod replays;
mod request_info;
mod token_loading;
mod tokens;
mod usage;
mod visibility;
mod web_urls;
