//! What every store must do, on each backend, and what a backend promises beside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod backend;
mod budgets;
mod database;
mod faults;
mod group;
mod postgres;
mod redis;
mod restart;
mod webhooks;
mod window;
