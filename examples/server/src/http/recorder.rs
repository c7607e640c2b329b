//! A recorder of metrics in memory, and their text in the format of Prometheus.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use metrics::{
    Counter, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// Upper bounds of the histograms' buckets in seconds: from a cached response to the longest webhook attempt.
const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Metrics of the process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryRecorder(Arc<State>);

#[derive(Debug, Default)]
struct State {
    descriptions: RwLock<HashMap<KeyName, SharedString>>,
    counters: Series<AtomicU64>,
    /// The bits of floating-point numbers.
    gauges: Series<AtomicU64>,
    histograms: Series<Buckets>,
}

/// Metrics of one kind by name and labels.
type Series<T> = RwLock<HashMap<Key, Arc<T>>>;

/// Numbers of values by bucket, the last for those above all bounds, and the sum of all values.
#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BUCKETS.len() + 1],
    sum: AtomicU64,
}

impl HistogramFn for Buckets {
    fn record(&self, value: f64) {
        let bucket = BUCKETS.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        GaugeFn::increment(&self.sum, value);
    }
}

/// Returns the metric of a key. Creates it if it does not exist.
fn series<T: Default>(all: &Series<T>, key: &Key) -> Arc<T> {
    let known = all.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(key) {
        return Arc::clone(known);
    }
    drop(known);
    let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(all.entry(key.clone()).or_default())
}

impl MemoryRecorder {
    fn describe(&self, name: KeyName, description: SharedString) {
        let descriptions = self.0.descriptions.write();
        let mut descriptions = descriptions.unwrap_or_else(PoisonError::into_inner);
        descriptions.insert(name, description);
    }

    /// Returns all metrics as text.
    pub fn render(&self) -> String {
        let state = &self.0;
        let number = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        let mut text = String::new();
        self.render_kind(&mut text, "counter", &state.counters, |text, key, count| {
            push_sample(text, key, "", None, count.load(Ordering::Relaxed));
        });
        self.render_kind(&mut text, "gauge", &state.gauges, |text, key, gauge| {
            push_sample(text, key, "", None, number(gauge));
        });
        let render = |text: &mut String, key: &Key, buckets: &Buckets| {
            let bounds = BUCKETS.iter().map(f64::to_string);
            let mut total = 0;
            for (bound, count) in bounds.chain(["+Inf".into()]).zip(&buckets.counts) {
                total += count.load(Ordering::Relaxed);
                push_sample(text, key, "_bucket", Some(&bound), total);
            }
            push_sample(text, key, "_sum", None, number(&buckets.sum));
            push_sample(text, key, "_count", None, total);
        };
        self.render_kind(&mut text, "histogram", &state.histograms, render);
        text
    }

    /// Renders the metrics of a kind, ordered by name and labels.
    fn render_kind<T>(
        &self,
        text: &mut String,
        kind: &str,
        series: &Series<T>,
        render: impl Fn(&mut String, &Key, &T),
    ) {
        let known = series.read().unwrap_or_else(PoisonError::into_inner);
        let mut metrics: Vec<_> = known.iter().collect();
        metrics.sort_by_key(|(key, _)| *key);
        let descriptions = self.0.descriptions.read();
        let descriptions = descriptions.unwrap_or_else(PoisonError::into_inner);
        let mut previous = "";
        for (key, value) in metrics {
            let name = key.name();
            if name != previous {
                if let Some(description) = descriptions.get(name) {
                    _ = writeln!(text, "# HELP {name} {description}");
                }
                _ = writeln!(text, "# TYPE {name} {kind}");
                previous = name;
            }
            render(text, key, value);
        }
    }
}

/// Appends the line of a sample. `bound` is the upper bound of a bucket.
fn push_sample(
    text: &mut String,
    key: &Key,
    suffix: &str,
    bound: Option<&str>,
    value: impl std::fmt::Display,
) {
    let pairs: Vec<_> = key
        .labels()
        .map(|label| (label.key(), label.value()))
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    let labels = if pairs.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", pairs.join(","))
    };
    _ = writeln!(text, "{}{suffix}{labels} {value}", key.name());
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"");
    value.replace('\n', r"\n")
}

impl Recorder for MemoryRecorder {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(name, description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(name, description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(name, description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(series(&self.0.counters, key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(series(&self.0.gauges, key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(series(&self.0.histograms, key))
    }
}
