//! The library's metrics and those of the process for `/metrics`, as Prometheus reads them.

use std::fs;
use std::time::Duration;

use forum_api::host::{BackendResult, OrInternal};
use forum_api::runtime::{Clock, SystemClock};
use metrics::{counter, describe_counter, describe_gauge, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use tokio::runtime::Handle;
use tokio::time;

use crate::board::db::{BoardDatabase, READS};
use crate::log::DROPPED_LINES;

/// Gauge of the open connections.
pub const CONNECTIONS: &str = "forum_server_connections";
pub const MAX_CONNECTIONS: &str = "forum_server_connections_max";

/// Gauges that a scrape reads from the database.
pub const READY: &str = "forum_server_ready";
pub const OFFLINE: &str = "forum_server_board_offline";

/// Gauge of the reachability of Redis.
pub const REDIS_REACHABLE: &str = "forum_server_redis_reachable";

/// Gauge of the days until a certificate ends.
pub const CERTIFICATE_DAYS: &str = "forum_server_certificate_days";

const BUILD: &str = "forum_server_build_info";
const DATABASE_CONNECTIONS: &str = "forum_server_database_connections";
const MAX_DATABASE_CONNECTIONS: &str = "forum_server_database_connections_max";
const MAX_FILES: &str = "process_max_fds";
const MEMORY: &str = "process_resident_memory_bytes";
const OPEN_FILES: &str = "process_open_fds";
const START: &str = "process_start_time_seconds";
const TASKS: &str = "forum_server_tasks";

/// Upper bounds of the histograms' buckets in seconds: from a cached response to the longest webhook attempt.
const BUCKETS: [f64; 13] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Time between two runs of the recorder's upkeep. The recorder keeps each recorded duration until then.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Gauges of the process. `metrics-process` would add 25 packages to `Cargo.lock` for those that begin with `process_`.
pub const GAUGES: [(&str, &str); 14] = [
    (BUILD, "1, with the `version` of the program."),
    (CONNECTIONS, "Open connections of clients."),
    (MAX_CONNECTIONS, "Maximum number of open connections of clients."),
    (
        DATABASE_CONNECTIONS,
        "Connections to the database by `state`: `in_use` or `idle`; on SQLite, threads that read.",
    ),
    (MAX_DATABASE_CONNECTIONS, "Maximum number of connections to the database."),
    (TASKS, "Number of live Tokio tasks, including one for each open connection."),
    (MEMORY, "Resident memory of the process."),
    (OPEN_FILES, "Open files of the process."),
    (MAX_FILES, "Maximum number of open files."),
    (START, "Time of the start, in seconds since 1970."),
    (READY, "1 if `/ready` is 200, otherwise 0."),
    (OFFLINE, "1 if the board is offline, otherwise 0."),
    (
        REDIS_REACHABLE,
        "1 if Redis took a write at the last check, otherwise 0; checked every 10 s.",
    ),
    (
        CERTIFICATE_DAYS,
        "Days until the certificate of a `server` (`postgres` or `redis`) ends, negative afterwards; read once an hour.",
    ),
];

/// Media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The recorder of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the recorder, and starts a task for its upkeep.
    ///
    /// # Errors
    /// If the process already has one.
    pub fn install() -> BackendResult<Self> {
        let recorder = PrometheusBuilder::new().set_buckets(&BUCKETS).or_internal()?;
        let metrics = Self(recorder.install_recorder().or_internal()?);
        forum_api::metrics::describe();
        for (name, description) in GAUGES {
            describe_gauge!(name, description);
        }
        describe_counter!(
            READS,
            "Reads that a replica of Postgres may serve, by `target`: `replica`, `primary_lagging` or `primary_unavailable`."
        );
        gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1);
        describe_counter!(
            DROPPED_LINES,
            "Log lines that were dropped because standard error was too slow."
        );
        counter!(DROPPED_LINES).increment(0);
        gauge!(CONNECTIONS).set(0);
        gauge!(START).set(SystemClock.now().as_millis() as f64 / 1000.0);
        tokio::spawn(metrics.clone().keep_up());
        Ok(metrics)
    }

    async fn keep_up(self) {
        loop {
            time::sleep(UPKEEP_INTERVAL).await;
            self.0.run_upkeep();
        }
    }

    /// Returns all metrics as text.
    pub fn render(&self, database: &BoardDatabase) -> String {
        let [max, in_use, idle] = database.connections();
        set(MAX_DATABASE_CONNECTIONS, max);
        for (state, count) in [("in_use", in_use), ("idle", idle)] {
            gauge!(DATABASE_CONNECTIONS, "state" => state).set(count as f64);
        }
        set(TASKS, Handle::current().metrics().num_alive_tasks());
        // Files of `/proc` are in memory.
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            set(OPEN_FILES, files.count().saturating_sub(1));
        }
        if let Some(pages) = resident_pages() {
            set(MEMORY, pages.saturating_mul(page_size()));
        }
        if let Some(files) = getrlimit(Resource::Nofile).current {
            gauge!(MAX_FILES).set(files as f64);
        }
        self.0.render()
    }
}

/// Sets a gauge.
pub fn set(name: &'static str, value: usize) {
    gauge!(name).set(value as f64);
}

fn resident_pages() -> Option<usize> {
    let sizes = fs::read_to_string("/proc/self/statm").ok()?;
    sizes.split(' ').nth(1)?.parse().ok()
}
