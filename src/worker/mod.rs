//! The worker: tells each endpoint what happened, and keeps at it (spec, Delivery rules; contract, section 8).
//!
//! Five loops run side by side: events are fanned out to deliveries, due deliveries are claimed and attempted, the start
//! of sending is recorded, the end of attempts is recorded, and old deliveries are swept. With the feature `metrics`, a
//! sixth measures the queue. The loops do not wait for each other, and each attempt is a task of its own,
//! so that neither many events nor a slow receiver delays the rest. Any number of workers may share one store.

mod attempt;
mod attempt_result;
mod builder;
mod context;
mod dispatch;
mod endpoint_filter;
mod fan_out;
mod handle;
mod owner_access;
mod poll_loop;
#[cfg(feature = "metrics")]
mod queue_metrics;
mod settings;
mod settlement_batcher;
mod slots;
mod start_batcher;
mod sweep;

pub use builder::Worker;
pub use handle::{Health, WorkerHandle};
pub use settings::Settings;
