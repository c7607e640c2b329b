//! A subscriber and a metrics recorder as those of the example server, which writes its log as text by default.

use std::io;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::PrometheusBuilder;
use tracing::subscriber::with_default;
use tracing_subscriber::EnvFilter;

/// Bounds of the buckets of a duration, in seconds.
const BUCKETS: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// Calls `work` with a log, whose lines are discarded when they are complete, and with metrics.
pub fn with_log_and_metrics<T>(work: impl FnOnce() -> T) -> T {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("info"))
        .with_ansi(false)
        .with_writer(io::sink)
        .finish();
    let builder = PrometheusBuilder::new().set_buckets(&BUCKETS);
    let recorder = builder.unwrap().build_recorder();
    with_default(subscriber, || with_local_recorder(&recorder, work))
}
