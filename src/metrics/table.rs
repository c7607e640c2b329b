//! The table of metrics.

use ::metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A value that only increases.
    Counter,
    /// A current value.
    Gauge,
    /// A distribution of values.
    Histogram,
}

/// Name, kind, unit and labels of a metric.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// Name, such as `forum_api_requests_total`.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// Unit of the values.
    pub unit: Unit,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// Description, as a sentence.
    pub description: &'static str,
}

macro_rules! metrics {
    ($($id:ident $kind:ident $unit:ident $name:literal [$($label:literal),*] $description:literal)+) => {
        $(
            #[doc = $description]
            pub(super) const $id: Metric = Metric {
                name: $name,
                kind: MetricKind::$kind,
                unit: Unit::$unit,
                labels: &[$($label),*],
                description: $description,
            };
        )+

        /// All metrics of the library.
        pub const ALL: &[Metric] = &[$($id),+];
    };
}

metrics! {
    REQUESTS Counter Count "forum_api_requests_total" ["method", "route", "status", "code"]
        "Completed requests."
    REQUEST_SECONDS Histogram Seconds "forum_api_request_duration_seconds" ["method", "route"]
        "Request duration."
    ERROR_REASONS Counter Count "forum_api_error_reasons_total" ["method", "route", "reason"]
        "Errors that have a reason."
    UNITS Counter Count "forum_api_units_charged_total" ["budget"]
        "Units charged."
    REFUSALS Counter Count "forum_api_budget_refusals_total" ["budget"]
        "Requests refused for lack of units."
    DELIVERIES Counter Count "forum_api_deliveries_total" ["topic", "state"]
        "Delivery attempts by resulting state."
    ATTEMPT_SECONDS Histogram Seconds "forum_api_delivery_attempt_duration_seconds" []
        "Duration of attempts that sent a request."
    QUEUE_DEPTH Gauge Count "forum_api_delivery_queue_depth" []
        "Due deliveries not yet claimed; at most 10001 are counted."
    QUEUE_SECONDS Gauge Seconds "forum_api_delivery_queue_age_seconds" []
        "Age of the oldest due delivery."
    DEAD_DELIVERIES Gauge Count "forum_api_dead_deliveries" []
        "Dead deliveries; at most 10001 are counted."
    DISABLED_ENDPOINTS Gauge Count "forum_api_disabled_endpoints" []
        "Disabled endpoints."
    RETRYING_DELIVERIES Gauge Count "forum_api_retrying_deliveries" []
        "Deliveries that wait for a retry; at most 10001 are counted."
    LATEST_RETRY Gauge Seconds "forum_api_latest_retry_timestamp_seconds" []
        "Latest due time of a counted retry, in seconds since 1970; 0 without a retry."
    UNREADABLE Counter Count "forum_api_unreadable_rows_total" ["table"]
        "Rows of events, endpoints and deliveries that could not be decoded, counted each time they are read."
    STORE_ERRORS Counter Count "forum_api_store_errors_total" ["store"]
        "Failed store operations."
}

/// Passes kind, unit and description of each metric to the installed recorder. Creates the counter of errors of each
/// store with the value 0, so that an alert on its increase also detects the first error.
pub fn describe() {
    for metric in ALL {
        let Metric { name, unit, description, .. } = *metric;
        match metric.kind {
            MetricKind::Counter => describe_counter!(name, unit, description),
            MetricKind::Gauge => describe_gauge!(name, unit, description),
            MetricKind::Histogram => describe_histogram!(name, unit, description),
        }
    }
    for store in ["tokens", "budgets", "idempotency", "usage", "webhooks"] {
        counter!(STORE_ERRORS.name, "store" => store).increment(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Unit};

    #[test]
    fn the_guide_lists_all_metrics() {
        let guide = include_str!("../guide/observability.md");
        let rows = guide.lines().filter(|line| line.starts_with("| `forum_api_"));
        let expected = ALL.iter().map(|metric| {
            let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            format!(
                "| `{}` | {} | {} | {} |",
                metric.name,
                format!("{:?}", metric.kind).to_lowercase(),
                labels.join(", "),
                metric.description
            )
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_name_of_a_metric_states_whether_its_unit_is_seconds() {
        for metric in ALL {
            let unit = if metric.name.ends_with("_seconds") { Unit::Seconds } else { Unit::Count };
            assert_eq!(metric.unit, unit, "{}", metric.name);
        }
    }
}
