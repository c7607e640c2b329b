//! Webhooks: where they may go, and what goes over the wire.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod addresses;
mod ranges;
mod spellings;
mod tls;
mod transport;
mod wire;
