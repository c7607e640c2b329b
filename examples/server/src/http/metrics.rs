//! The library's metrics for `/metrics`, as Prometheus reads them.

use forum_api::host::{BackendResult, OrInternal};
use metrics::{describe_counter, describe_gauge, gauge};
use tokio::runtime::Handle;

use super::recorder::MemoryRecorder;
use crate::board::db::READS;

const TASKS: &str = "forum_server_tasks";

/// Media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The recorder of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics(MemoryRecorder);

impl Metrics {
    /// Installs the recorder.
    ///
    /// # Errors
    /// If the process already has one.
    pub fn install() -> BackendResult<Self> {
        let metrics = Self(MemoryRecorder::default());
        metrics::set_global_recorder(metrics.0.clone()).or_internal()?;
        forum_api::metrics::describe();
        describe_gauge!(
            TASKS,
            "Number of live Tokio tasks, including one for each open connection."
        );
        describe_counter!(
            READS,
            "Reads that a replica of Postgres may serve, by `target`: `replica`, `primary_lagging` or `primary_unavailable`."
        );
        Ok(metrics)
    }

    /// Returns all metrics as text.
    pub fn render(&self) -> String {
        let tasks = Handle::current().metrics().num_alive_tasks();
        gauge!(TASKS).set(u32::try_from(tasks).unwrap_or(u32::MAX));
        self.0.render()
    }
}
