//! The worker that delivers webhooks (`docs/protocol.md`, section 13).
//!
//! Its loops run side by side: events are fanned out to deliveries, due deliveries are claimed and attempted, the start
//! of sending and the end of attempts are recorded in batches, and old deliveries are removed. The loops do not wait for
//! each other, and each attempt is a task of its own, so that neither many events nor a slow receiver delays the rest.
//! Any number of workers may share one store.

mod attempt;
mod batcher;
mod builder;
mod context;
mod dispatch;
mod fan_out;
mod handle;
mod maintenance;
mod poll_loop;
mod slots;

pub use builder::{Worker, WorkerSettings};
pub use handle::{WorkerHandle, WorkerHealth};
