//! Records metrics. Every function does nothing without the feature `metrics`.

#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "nothing is recorded then")
)]

use std::time::Duration;

use http::{Method, StatusCode};
#[cfg(feature = "metrics")]
use metrics::{Label, SharedString, counter, histogram};

#[cfg(feature = "metrics")]
use super::table;

/// Label of a method or a route that is not in the table of endpoints.
#[cfg(feature = "metrics")]
const OTHER: &str = "other";

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
        let (method, route) = (method_label(method), route.unwrap_or(OTHER));
        let duration_labels = labels(&table::REQUEST_SECONDS, [method, route]);
        histogram!(table::REQUEST_SECONDS.name, duration_labels).record(elapsed);
        let [method, route, code] =
            [method, route, code.unwrap_or_default()].map(SharedString::const_str);
        let status = SharedString::from_owned(status.as_str().to_owned());
        let labels = labels(&table::REQUESTS, [method, route, status, code]);
        counter!(table::REQUESTS.name, labels).increment(1);
    }
}

/// Records a charge of a budget. `budget` is `token` or `guest`.
pub(crate) fn record_charge(budget: &'static str, units: u32, allowed: bool) {
    #[cfg(feature = "metrics")]
    {
        let (metric, count) = if allowed {
            (table::UNITS, units)
        } else {
            (table::REFUSALS, 1)
        };
        counter!(metric.name, labels(&metric, [budget])).increment(count.into());
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
        let topic = SharedString::from_owned(topic.to_owned());
        let labels = labels(&table::DELIVERIES, [topic, SharedString::const_str(state)]);
        counter!(table::DELIVERIES.name, labels).increment(1);
        if let Some(duration) = duration {
            histogram!(table::ATTEMPT_SECONDS.name).record(duration);
        }
    }
}

/// Records the statistics of the queue and the age of the oldest due delivery.
#[cfg(all(feature = "metrics", feature = "webhooks"))]
pub(crate) fn record_queue(depth: u64, age: Duration, dead: u64, disabled_endpoints: u64) {
    metrics::gauge!(table::QUEUE_DEPTH.name).set(depth as f64);
    metrics::gauge!(table::DEAD_DELIVERIES.name).set(dead as f64);
    metrics::gauge!(table::DISABLED_ENDPOINTS.name).set(disabled_endpoints as f64);
    metrics::gauge!(table::QUEUE_SECONDS.name).set(age);
}

#[cfg(feature = "metrics")]
fn labels<const N: usize>(
    metric: &table::Metric,
    values: [impl Into<SharedString>; N],
) -> Vec<Label> {
    let names = metric.labels.iter().copied();
    let labels = names.zip(values);
    labels
        .map(|(name, value)| Label::new(name, value))
        .collect()
}

/// Returns the method if an endpoint has it, or [`OTHER`].
#[cfg(feature = "metrics")]
fn method_label(method: &Method) -> &'static str {
    let mut known = ["GET", "HEAD", "POST", "PATCH", "DELETE"].into_iter();
    known.find(|known| method == known).unwrap_or(OTHER)
}
