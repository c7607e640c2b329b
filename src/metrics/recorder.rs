//! Where things are counted and timed while the feature `metrics` is on; while it is off, nothing is done here.

#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "nothing is measured then")
)]

use std::time::Duration;

use http::{Method, StatusCode};
#[cfg(feature = "metrics")]
use metrics::{Label, SharedString, counter, histogram};

#[cfg(feature = "metrics")]
use super::table;

/// What a label says of what a client could make up.
#[cfg(feature = "metrics")]
const OTHER: &str = "other";

/// A request was answered; `route` is the template of a route that there is.
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
        let took = labels(&table::REQUEST_SECONDS, [method, route]);
        histogram!(table::REQUEST_SECONDS.name, took).record(elapsed);
        let [method, route, code] =
            [method, route, code.unwrap_or_default()].map(SharedString::const_str);
        let status = SharedString::from_owned(status.as_str().to_owned());
        let labels = labels(&table::REQUESTS, [method, route, status, code]);
        counter!(table::REQUESTS.name, labels).increment(1);
    }
}

/// A budget, of a `token` or of a `guest`, was asked for units.
pub(crate) fn record_charge(budget: &'static str, units: u32, granted: bool) {
    #[cfg(feature = "metrics")]
    {
        let (metric, by) = if granted {
            (table::UNITS, units)
        } else {
            (table::REFUSALS, 1)
        };
        counter!(metric.name, labels(&metric, [budget])).increment(by.into());
    }
}

/// A store failed to do what it was asked.
pub(crate) fn record_store_error(store: &'static str) {
    #[cfg(feature = "metrics")]
    {
        let labels = labels(&table::STORE_ERRORS, [store]);
        counter!(table::STORE_ERRORS.name, labels).increment(1);
    }
}

/// A row of webhooks could not be decoded.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn record_unreadable(rows_of: &'static str) {
    #[cfg(feature = "metrics")]
    {
        let labels = labels(&table::UNREADABLE, [rows_of]);
        counter!(table::UNREADABLE.name, labels).increment(1);
    }
}

/// An attempt ended, and its delivery is in this state now. It `took` so long if something was sent.
#[cfg(feature = "webhooks")]
pub(crate) fn record_attempt(topic: &str, state: &'static str, took: Option<Duration>) {
    #[cfg(feature = "metrics")]
    {
        let topic = SharedString::from_owned(topic.to_owned());
        let labels = labels(&table::DELIVERIES, [topic, SharedString::const_str(state)]);
        counter!(table::DELIVERIES.name, labels).increment(1);
        if let Some(took) = took {
            histogram!(table::ATTEMPT_SECONDS.name).record(took);
        }
    }
}

/// Number of due deliveries, at least, and age of the oldest of them.
#[cfg(all(feature = "metrics", feature = "webhooks"))]
pub(crate) fn record_queue(depth: u64, age: Duration) {
    metrics::gauge!(table::QUEUE_DEPTH.name).set(depth as f64);
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

/// The method, if the table of endpoints has one like it.
#[cfg(feature = "metrics")]
fn method_label(method: &Method) -> &'static str {
    let mut known = ["GET", "HEAD", "POST", "PATCH", "DELETE"].into_iter();
    known.find(|known| method == known).unwrap_or(OTHER)
}
