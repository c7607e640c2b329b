//! The library's metrics and those of the process for `/metrics`, as Prometheus reads them.

use std::thread;
use std::time::Duration;

use forum_api::host::{BackendResult, OrInternal};
use metrics::{describe_counter, describe_gauge, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;
use tokio::runtime::Handle;

use crate::board::db::READS;

const TASKS: &str = "forum_server_tasks";

/// Upper bounds of the histograms' buckets in seconds: from a cached response to the longest webhook attempt.
const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Time between two reads of the process's own metrics. The recorder keeps each duration until then.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

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
        let builder = PrometheusBuilder::new()
            .set_buckets(&BUCKETS)
            .or_internal()?;
        let handle = builder.install_recorder().or_internal()?;
        forum_api::metrics::describe();
        describe_gauge!(
            TASKS,
            "Number of live Tokio tasks, including one for each open connection."
        );
        describe_counter!(
            READS,
            "Reads that a replica of Postgres may serve, by `target`: `replica`, `primary_lagging` or `primary_unavailable`."
        );
        let process = Collector::default();
        process.describe();
        process.collect();
        let upkeep = handle.clone();
        let keep_up = move || loop {
            thread::sleep(UPKEEP_INTERVAL);
            process.collect();
            upkeep.run_upkeep();
        };
        let thread = thread::Builder::new().name("metrics".into());
        thread.spawn(keep_up).or_internal()?;
        Ok(Self(handle))
    }

    /// Returns all metrics as text.
    pub fn render(&self) -> String {
        let tasks = Handle::current().metrics().num_alive_tasks();
        gauge!(TASKS).set(u32::try_from(tasks).unwrap_or(u32::MAX));
        self.0.render()
    }
}
