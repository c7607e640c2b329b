//! Metrics (feature `metrics`).
//!
//! The library records metrics through the [`metrics`](https://docs.rs/metrics) facade. Install a recorder at startup,
//! then call [`describe`]. Without a recorder all values are discarded. Labels have a bounded number of values: a route
//! is the template of a path, and unknown methods and routes are `other`.

pub(crate) mod recorder;
#[cfg(feature = "metrics")]
mod table;

#[cfg(feature = "metrics")]
pub use table::{ALL, Metric, MetricKind, describe};
