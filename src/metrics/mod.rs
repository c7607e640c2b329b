//! What is counted and timed (feature `metrics`), in one table (`docs/protocol.md`, section 18.3).
//!
//! The library speaks through the [`metrics`](https://docs.rs/metrics) facade: install a recorder before anything else,
//! and call [`describe`] then. Without one, nothing is kept. Labels have few values: routes are templates, and whatever a
//! client could make up is `other`.

pub(crate) mod recorder;
#[cfg(feature = "metrics")]
mod table;

#[cfg(feature = "metrics")]
pub use table::{ALL, Metric, MetricKind, describe};
