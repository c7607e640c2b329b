//! What is counted and timed, kept for `/metrics` as Prometheus reads it.

use std::collections::HashMap;
use std::sync::Arc;

use forum_api::host::{Fault, Stored};
use forum_api::metrics::{ALL, Kind, Metric};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use prometheus::core::Collector;
use prometheus::{GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry};
use prometheus::{TEXT_FORMAT, TextEncoder};
use tokio::runtime::Handle;

/// The upper bounds of the buckets, in seconds: from an answer out of memory to the longest attempt.
const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// How `/metrics` is written.
pub const KIND: &str = TEXT_FORMAT;

/// Keeps every metric of the library, and how many tasks the server has.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Families>);

#[derive(Debug)]
struct Families {
    registry: Registry,
    tasks: IntGauge,
    by_name: HashMap<&'static str, Family>,
}

#[derive(Debug)]
enum Family {
    Counters(IntCounterVec),
    Gauges(GaugeVec),
    Histograms(HistogramVec),
}

impl Metrics {
    /// Begins to keep what the process counts from now on.
    ///
    /// # Errors
    /// When something keeps it already.
    pub fn install() -> Stored<Self> {
        let registry = Registry::new();
        let families = ALL.iter().map(|metric| {
            let family = Family::new(metric, &registry);
            family.map(|family| (metric.name, family))
        });
        let by_name = families.collect::<prometheus::Result<_>>();
        let by_name = by_name.map_err(Fault::new)?;
        let tasks = IntGauge::new("forum_server_tasks", "Tasks that are not done.");
        let tasks = tasks.and_then(|tasks| kept(tasks, &registry));
        let tasks = tasks.map_err(Fault::new)?;
        let metrics = Self(Arc::new(Families {
            registry,
            tasks,
            by_name,
        }));
        let installed = metrics::set_global_recorder(metrics.clone());
        installed.map_err(|error| Fault::new(error.to_string()))?;
        Ok(metrics)
    }

    /// All of it, in [`KIND`].
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn text(&self) -> Stored<String> {
        let tasks = Handle::current().metrics().num_alive_tasks();
        self.0.tasks.set(i64::try_from(tasks).unwrap_or(i64::MAX));
        let encoded = TextEncoder::new().encode_to_string(&self.0.registry.gather());
        encoded.map_err(Fault::new)
    }

    fn family(&self, key: &Key) -> Option<&Family> {
        self.0.by_name.get(key.name())
    }
}

impl Family {
    fn new(metric: &Metric, registry: &Registry) -> prometheus::Result<Self> {
        let (labels, options) = (metric.labels, Opts::new(metric.name, metric.help));
        Ok(match metric.kind {
            Kind::Counter => Self::Counters(kept(IntCounterVec::new(options, labels)?, registry)?),
            Kind::Gauge => Self::Gauges(kept(GaugeVec::new(options, labels)?, registry)?),
            Kind::Histogram => {
                let options = HistogramOpts::from(options).buckets(BUCKETS.into());
                Self::Histograms(kept(HistogramVec::new(options, labels)?, registry)?)
            }
        })
    }
}

/// The family, which `registry` gathers from now on.
fn kept<T: Collector + Clone + 'static>(family: T, registry: &Registry) -> prometheus::Result<T> {
    registry.register(Box::new(family.clone()))?;
    Ok(family)
}

fn labels(key: &Key) -> HashMap<&str, &str> {
    let labels = key.labels();
    labels.map(|label| (label.key(), label.value())).collect()
}

/// What is not in the library's table is not kept. What its metrics mean, the table says as well.
impl Recorder for Metrics {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let found = match self.family(key) {
            Some(Family::Counters(family)) => family.get_metric_with(&labels(key)).ok(),
            _ => None,
        };
        found.map_or_else(Counter::noop, |one| Counter::from_arc(Arc::new(Kept(one))))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let found = match self.family(key) {
            Some(Family::Gauges(family)) => family.get_metric_with(&labels(key)).ok(),
            _ => None,
        };
        found.map_or_else(Gauge::noop, |one| Gauge::from_arc(Arc::new(Kept(one))))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let found = match self.family(key) {
            Some(Family::Histograms(family)) => family.get_metric_with(&labels(key)).ok(),
            _ => None,
        };
        found.map_or_else(Histogram::noop, |one| {
            Histogram::from_arc(Arc::new(Kept(one)))
        })
    }
}

/// A metric with its labels.
struct Kept<T>(T);

impl CounterFn for Kept<prometheus::IntCounter> {
    fn increment(&self, by: u64) {
        self.0.inc_by(by);
    }

    fn absolute(&self, value: u64) {
        self.0.inc_by(value.saturating_sub(self.0.get()));
    }
}

impl GaugeFn for Kept<prometheus::Gauge> {
    fn increment(&self, by: f64) {
        self.0.add(by);
    }

    fn decrement(&self, by: f64) {
        self.0.sub(by);
    }

    fn set(&self, value: f64) {
        self.0.set(value);
    }
}

impl HistogramFn for Kept<prometheus::Histogram> {
    fn record(&self, value: f64) {
        self.0.observe(value);
    }
}
