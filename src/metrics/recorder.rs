//! Records metrics. Every function does nothing without the feature `metrics`.

#![cfg_attr(not(feature = "metrics"), allow(unused_variables, reason = "nothing is recorded then"))]

#[cfg(feature = "metrics")]
use std::cell::RefCell;
#[cfg(feature = "metrics")]
use std::collections::BTreeMap;
use std::time::Duration;

use http::{Method, StatusCode};
#[cfg(feature = "metrics")]
use metrics::{Key, Label, Level, Metadata, SharedString, counter};

#[cfg(feature = "metrics")]
use super::table;
#[cfg(feature = "metrics")]
use crate::model::error_reason::ERROR_REASONS;

/// Label of a method or a route that is not in the table of endpoints, and of a reason of a host.
const OTHER: &str = "other";

/// Labels of the metrics of a completed request.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: StatusCode,
    code: &'static str,
}

#[cfg(feature = "metrics")]
impl RequestLabels {
    fn keys(&self) -> RequestKeys {
        let [method, route, code] =
            [self.method, self.route, self.code].map(SharedString::const_str);
        let status = SharedString::from_owned(self.status.as_str().to_owned());
        let seconds = labels(&table::REQUEST_SECONDS, [method.clone(), route.clone()]);
        let requests = labels(&table::REQUESTS, [method, route, status, code]);
        let seconds = Key::from_parts(table::REQUEST_SECONDS.name, seconds);
        let requests = Key::from_parts(table::REQUESTS.name, requests);
        RequestKeys { seconds, requests }
    }
}

/// Keys of the metrics of a completed request.
#[cfg(feature = "metrics")]
struct RequestKeys {
    seconds: Key,
    requests: Key,
}

#[cfg(feature = "metrics")]
thread_local! {
    /// Keys that were used on this thread. They are cached, because creating a key allocates and hashes its labels.
    static REQUEST_KEYS: RefCell<BTreeMap<RequestLabels, RequestKeys>> = RefCell::default();
}

#[cfg(feature = "metrics")]
static METADATA: Metadata<'static> =
    Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

#[cfg(feature = "metrics")]
static TOKEN_BUDGET: [Label; 1] = [Label::from_static_parts("budget", "token")];

#[cfg(feature = "metrics")]
static GUEST_BUDGET: [Label; 1] = [Label::from_static_parts("budget", "guest")];

/// Records a completed request. `route` is the path template; `None` for an unknown path.
pub(crate) fn record_request(
    method: &Method,
    route: Option<&'static str>,
    status: StatusCode,
    code: Option<&'static str>,
    elapsed: Duration,
) {
    #[cfg(feature = "metrics")]
    {
        let labels = RequestLabels {
            method: method_label(method),
            route: route.unwrap_or(OTHER),
            status,
            code: code.unwrap_or_default(),
        };
        let (seconds, requests) = REQUEST_KEYS.with_borrow_mut(|keys| {
            let keys = keys.entry(labels).or_insert_with_key(RequestLabels::keys);
            metrics::with_recorder(|recorder| {
                let seconds = recorder.register_histogram(&keys.seconds, &METADATA);
                let requests = recorder.register_counter(&keys.requests, &METADATA);
                (seconds, requests)
            })
        });
        seconds.record(elapsed);
        requests.increment(1);
    }
}

/// Records an error that has a reason. A reason that the OpenAPI document does not list has the label [`OTHER`]: a host can
/// have any number of them.
pub(crate) fn record_error_reason(method: &Method, route: Option<&'static str>, reason: &str) {
    #[cfg(feature = "metrics")]
    {
        let mut known = ERROR_REASONS.iter().map(|known| known.name);
        let reason = known.find(|known| *known == reason).unwrap_or(OTHER);
        let labels =
            labels(&table::ERROR_REASONS, [method_label(method), route.unwrap_or(OTHER), reason]);
        counter!(table::ERROR_REASONS.name, labels).increment(1);
    }
}

/// Records a charge of a budget. `budget` is `token` or `guest`.
pub(crate) fn record_charge(budget: &'static str, units: u32, allowed: bool) {
    #[cfg(feature = "metrics")]
    {
        let (metric, count) = if allowed { (table::UNITS, units) } else { (table::REFUSALS, 1) };
        let labels = match budget {
            "token" => &TOKEN_BUDGET,
            _ => &GUEST_BUDGET,
        };
        let key = Key::from_static_labels(metric.name, labels);
        let counter = metrics::with_recorder(|recorder| recorder.register_counter(&key, &METADATA));
        counter.increment(count.into());
    }
}

pub(crate) fn record_store_error(store: &'static str) {
    #[cfg(feature = "metrics")]
    {
        let labels = labels(&table::STORE_ERRORS, [store]);
        counter!(table::STORE_ERRORS.name, labels).increment(1);
    }
}

/// Records a row of a webhook table that cannot be decoded.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn record_unreadable_row(table: &'static str) {
    #[cfg(feature = "metrics")]
    {
        let labels = labels(&table::UNREADABLE, [table]);
        counter!(table::UNREADABLE.name, labels).increment(1);
    }
}

/// Records a delivery attempt. `state` is the resulting state of the delivery; `duration` is `None` if no request was sent.
#[cfg(feature = "webhooks")]
pub(crate) fn record_attempt(topic: &str, state: &'static str, duration: Option<Duration>) {
    #[cfg(feature = "metrics")]
    {
        // Recorded first, so that an exporter that reads counters before histograms shows the duration of each counted
        // attempt.
        if let Some(duration) = duration {
            metrics::histogram!(table::ATTEMPT_SECONDS.name).record(duration);
        }
        let topic = SharedString::from_owned(topic.to_owned());
        let labels = labels(&table::DELIVERIES, [topic, SharedString::const_str(state)]);
        counter!(table::DELIVERIES.name, labels).increment(1);
    }
}

/// Statistics of the queue.
#[cfg(all(feature = "metrics", feature = "webhooks"))]
pub(crate) struct QueueSample {
    pub(crate) depth: u64,
    /// Age of the oldest due delivery.
    pub(crate) age: Duration,
    pub(crate) dead: u64,
    pub(crate) disabled_endpoints: u64,
    pub(crate) retrying: u64,
    /// Due time of the latest retry in milliseconds since 1970; 0 without a retry.
    pub(crate) latest_retry_at: i64,
}

/// Records the statistics of the queue.
#[cfg(all(feature = "metrics", feature = "webhooks"))]
pub(crate) fn record_queue(sample: &QueueSample) {
    metrics::gauge!(table::QUEUE_DEPTH.name).set(sample.depth as f64);
    metrics::gauge!(table::DEAD_DELIVERIES.name).set(sample.dead as f64);
    metrics::gauge!(table::DISABLED_ENDPOINTS.name).set(sample.disabled_endpoints as f64);
    metrics::gauge!(table::QUEUE_SECONDS.name).set(sample.age);
    metrics::gauge!(table::RETRYING_DELIVERIES.name).set(sample.retrying as f64);
    metrics::gauge!(table::LATEST_RETRY.name).set(sample.latest_retry_at as f64 / 1000.0);
}

#[cfg(feature = "metrics")]
fn labels<const N: usize>(
    metric: &table::Metric,
    values: [impl Into<SharedString>; N],
) -> Vec<Label> {
    let names = metric.labels.iter().copied();
    let labels = names.zip(values);
    labels.map(|(name, value)| Label::new(name, value)).collect()
}

/// Returns the method if an endpoint has it, or [`OTHER`]: a client chooses the text of other methods.
pub(crate) fn method_label(method: &Method) -> &'static str {
    let mut known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].into_iter();
    known.find(|known| method == known).unwrap_or(OTHER)
}

#[cfg(test)]
#[cfg(all(feature = "metrics", feature = "webhooks"))]
mod tests {
    use std::fmt::Display;
    use std::sync::{Arc, Mutex};

    use metrics::{
        Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, KeyName, Recorder, Unit,
        with_local_recorder,
    };

    use super::*;

    /// A recorder of samples: name, labels and value.
    #[derive(Clone, Default)]
    struct SampleRecorder(Arc<Mutex<Vec<String>>>);

    /// A metric with its name and its labels.
    struct RecordedMetric(SampleRecorder, String);

    impl RecordedMetric {
        fn add(&self, value: impl Display) {
            self.0.0.lock().unwrap().push(format!("{} {value}", self.1));
        }
    }

    impl CounterFn for RecordedMetric {
        fn increment(&self, count: u64) {
            self.add(count);
        }

        fn absolute(&self, _: u64) {}
    }

    impl GaugeFn for RecordedMetric {
        fn increment(&self, _: f64) {}

        fn decrement(&self, _: f64) {}

        fn set(&self, value: f64) {
            self.add(value);
        }
    }

    impl HistogramFn for RecordedMetric {
        fn record(&self, value: f64) {
            self.add(value);
        }
    }

    impl SampleRecorder {
        fn metric(&self, key: &Key) -> Arc<RecordedMetric> {
            let texts = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
            let labels: Vec<_> = texts.collect();
            let name = format!("{}{{{}}}", key.name(), labels.join(","));
            Arc::new(RecordedMetric(self.clone(), name))
        }
    }

    impl Recorder for SampleRecorder {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.metric(key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.metric(key))
        }

        fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::from_arc(self.metric(key))
        }
    }

    #[test]
    fn each_sample_has_its_labels_and_its_value() {
        let recorder = SampleRecorder::default();
        with_local_recorder(&recorder, || {
            let elapsed = Duration::from_millis(250);
            record_request(&Method::PATCH, Some("/posts"), StatusCode::OK, None, elapsed);
            let status = StatusCode::NOT_FOUND;
            record_request(&Method::GET, None, status, Some("not_found"), elapsed);
            record_error_reason(&Method::POST, Some("/posts"), "too_long");
            record_error_reason(&Method::POST, None, "of_this_board");
            for budget in ["token", "guest"] {
                record_charge(budget, 5, true);
                record_charge(budget, 5, false);
            }
            record_store_error("usage");
            record_attempt("ping", "delivered", Some(Duration::from_millis(1_500)));
            record_attempt("ping", "dead", None);
            record_queue(&QueueSample {
                depth: 1,
                age: Duration::from_millis(2_500),
                dead: 3,
                disabled_endpoints: 4,
                retrying: 5,
                latest_retry_at: 6_500,
            });
        });
        let samples = recorder.0.lock().unwrap();
        assert_eq!(
            *samples,
            [
                "forum_api_request_duration_seconds{method=PATCH,route=/posts} 0.25",
                "forum_api_requests_total{method=PATCH,route=/posts,status=200,code=} 1",
                "forum_api_request_duration_seconds{method=GET,route=other} 0.25",
                "forum_api_requests_total{method=GET,route=other,status=404,code=not_found} 1",
                "forum_api_error_reasons_total{method=POST,route=/posts,reason=too_long} 1",
                "forum_api_error_reasons_total{method=POST,route=other,reason=other} 1",
                "forum_api_units_charged_total{budget=token} 5",
                "forum_api_budget_refusals_total{budget=token} 1",
                "forum_api_units_charged_total{budget=guest} 5",
                "forum_api_budget_refusals_total{budget=guest} 1",
                "forum_api_store_errors_total{store=usage} 1",
                "forum_api_delivery_attempt_duration_seconds{} 1.5",
                "forum_api_deliveries_total{topic=ping,state=delivered} 1",
                "forum_api_deliveries_total{topic=ping,state=dead} 1",
                "forum_api_delivery_queue_depth{} 1",
                "forum_api_dead_deliveries{} 3",
                "forum_api_disabled_endpoints{} 4",
                "forum_api_delivery_queue_age_seconds{} 2.5",
                "forum_api_retrying_deliveries{} 5",
                "forum_api_latest_retry_timestamp_seconds{} 6.5",
            ]
        );
    }

    #[test]
    fn the_method_of_an_endpoint_is_its_own_label() {
        for known in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            assert_eq!(method_label(&known.parse().unwrap()), known);
        }
        for unknown in ["OPTIONS", "TRACE", "get", "BREW"] {
            assert_eq!(method_label(&unknown.parse().unwrap()), OTHER, "{unknown}");
        }
    }
}
