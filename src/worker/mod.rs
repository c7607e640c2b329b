//! The worker that delivers webhooks ([protocol](crate::guide::protocol), section 13).
//!
//! Separate loops copy the board's [pending events](crate::store::PendingEventStore) to the outbox, fan out events to
//! deliveries, claim and attempt due deliveries, record the progress of attempts in batches, remove old deliveries, and
//! correct the times of a clock that was ahead. The loops do not wait for each other, and each attempt is a separate task,
//! so a large number of events or a slow receiver does not delay other deliveries. Several workers may share one store.

mod attempt;
mod batcher;
mod builder;
mod context;
mod dispatch;
mod fan_out;
mod handle;
mod maintenance;
mod poll_loop;
mod relay;
mod settings;
mod slots;

pub use builder::{Worker, WorkerBuilder};
pub use handle::{WorkerHandle, WorkerHealth};
pub use settings::WorkerSettings;
