//! The library's metrics for `/metrics`, as Prometheus reads them.

use std::time::Duration;

use forum_api::host::{BackendResult, OrInternal};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::runtime::Handle;
use tokio::time::interval;

/// Upper bounds of the histograms' buckets in seconds: from a cached response to the longest webhook attempt.
const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Time between two upkeeps of the recorder. Between them, each histogram keeps every value in memory.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

const TASKS: &str = "forum_server_tasks";

/// Media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The recorder of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the recorder.
    ///
    /// # Errors
    /// If the process already has one.
    pub fn install() -> BackendResult<Self> {
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS);
        let recorder = builder.and_then(PrometheusBuilder::install_recorder);
        let metrics = Self(recorder.or_internal()?);
        forum_api::metrics::describe();
        describe_gauge!(
            TASKS,
            "Number of live Tokio tasks, including one for each open connection."
        );
        let handle = metrics.0.clone();
        tokio::spawn(async move {
            let mut upkeeps = interval(UPKEEP_INTERVAL);
            loop {
                upkeeps.tick().await;
                handle.run_upkeep();
            }
        });
        Ok(metrics)
    }

    /// Returns all metrics as text.
    pub fn render(&self) -> String {
        let tasks = Handle::current().metrics().num_alive_tasks();
        gauge!(TASKS).set(u32::try_from(tasks).unwrap_or(u32::MAX));
        self.0.render()
    }
}
