//! API requests on the usage page, by hour, endpoint and token.

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, html};

use super::chart::ColumnChart;
use super::components::{TableRow, breakable, empty, number_table, utc_time};
use super::intervals::{Interval, first_interval, intervals, total};
use super::page_context::PageContext;
use super::response::PanelError;
use super::tokens::{NO_LABEL, label, page_path};
use crate::api::find_operation;
use crate::model::{HOUR, Timestamp};
use crate::store::{LatencyHistogram, OperationCounts, OperationUsage, UsageCounts};
use crate::task::join_all;
use crate::token::Lookup;

/// Hours of the charts.
const HOURS: u32 = 24;

/// Number of tokens on the page. The page shows the tokens with the most requests.
const TOP_TOKENS: u32 = 20;

/// Upper limit of estimated latencies.
const MAX_LATENCY: Duration = Duration::from_secs(5);

/// Classes and names of the requests in the chart by hour.
const REQUEST_SERIES: [(&str, &str); 3] = [
    (
        "completed",
        "completed (2xx, 3xx, other 4xx) or canceled by the client",
    ),
    ("refused", "refused (401, 403, 429)"),
    ("failed", "failed (5xx)"),
];

/// Classes and names of the parts of a column in the chart of latencies.
const LATENCY_SERIES: [(&str, &str); 2] = [
    ("plain", "median"),
    ("upper", "from the median to the 95th percentile"),
];

/// Requests of one hour.
type Hour = Interval<OperationCounts>;

/// Renders the requests of the last 24 hours, which begin at full hours in UTC.
pub(super) async fn sections(context: &PageContext) -> Result<Markup, PanelError> {
    let stores = &context.panel.stores;
    let since = first_interval(context.now, HOUR, HOURS);
    let usage = stores.usage.operation_usage_by_hour(since).await?;
    let tokens = stores.usage.most_used_tokens(since, TOP_TOKENS).await?;
    if usage.is_empty() && tokens.is_empty() {
        return Ok(empty(
            "No API requests in the last 24 hours.",
            html! { "New requests appear here within a minute." },
        ));
    }
    let hours = by_hour(&usage, context.now);
    let requests: Vec<_> = hours
        .iter()
        .map(|(hour, counts)| (*hour, counts.usage))
        .collect();
    let operations = by_operation(&usage);
    let operations = operations.iter().map(|(operation, counts)| {
        let mut row = usage_row("API endpoint", endpoint(operation), &counts.usage);
        row.extend(latency_cells(&counts.latency));
        row
    });
    let tokens = token_rows(context, &tokens).await?;
    Ok(html! {
        section aria-labelledby="requests-by-hour" {
            h2 id="requests-by-hour" { "API requests by hour" }
            (requests_chart(&requests, " in 24 hours:", "busiest hour", ends(&hours)))
            details.data {
                summary { "API request counts by hour" }
                (number_table(hours.iter().rev().map(|(hour, counts)| usage_row("Hour", hour_label(*hour), &counts.usage))))
            }
        }
        section aria-labelledby="latency-by-hour" {
            h2 id="latency-by-hour" { "Latency by hour" }
            (latency_chart(&hours, ends(&hours)))
            details.data {
                summary { "Latencies by hour" }
                (number_table(hours.iter().rev().map(|(hour, counts)| latency_row(*hour, &counts.latency))))
            }
            p.hint {
                "Median and 95th percentile (p95) are estimates: responses are counted in ten ranges of durations, with bounds at 5, 10, 25, 50, 100, 250 and 500 ms, 1 s and 5 s. An estimate is in the same range as the exact value."
            }
        }
        section aria-labelledby="requests-by-endpoint" {
            h2 id="requests-by-endpoint" { "Requests by API endpoint" }
            (number_table(operations))
        }
        section aria-labelledby="requests-by-token" {
            h2 id="requests-by-token" { "API requests by token" }
            @if tokens.is_empty() {
                p { "No requests with a token." }
            } @else {
                p { "The " (TOP_TOKENS) " tokens with the most requests." }
                (number_table(tokens))
            }
        }
    })
}

/// Sums operations by hour, the oldest hour first.
fn by_hour(usage: &[OperationUsage], now: Timestamp) -> Vec<Hour> {
    let counts = usage.iter().map(|one| (one.hour, one.counts));
    intervals(counts, now, HOUR, HOURS)
}

/// Sums hours by operation, the operation with the most requests first.
fn by_operation(usage: &[OperationUsage]) -> Vec<(&str, OperationCounts)> {
    let mut sums = HashMap::<_, OperationCounts>::new();
    for one in usage {
        *sums.entry(&*one.operation).or_default() += one.counts;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(one, few), (other, many)| {
        let order = many.usage.requests.cmp(&few.usage.requests);
        order.then_with(|| one.cmp(other))
    });
    sums
}

/// Renders the chart of requests by interval. In the description of the chart, `period` follows the number of requests,
/// and `busiest` is the name of the interval with the most requests.
pub(super) fn requests_chart(
    intervals: &[Interval<UsageCounts>],
    period: &str,
    busiest: &str,
    [from, to]: [Markup; 2],
) -> Markup {
    let columns = intervals.iter().map(|(_, counts)| {
        let (refused, failed) = (counts.refused(), counts.errors);
        let answered = counts.requests.saturating_sub(refused + failed);
        [answered, refused, failed]
    });
    let columns: Vec<_> = columns.collect();
    let sum = total(intervals);
    let (requests, refused, failed) = (sum.requests, sum.refused(), sum.errors);
    let noun = if requests == 1 { "request" } else { "requests" };
    let most = intervals.iter().map(|(_, counts)| counts.requests).max();
    let most = most.unwrap_or_default();
    let chart = ColumnChart {
        series: REQUEST_SERIES,
        columns: &columns,
        summary: format!(
            "{requests} {noun}{period} {refused} refused, {failed} failed · {busiest}: {most}"
        ),
        from,
        to,
    };
    chart.render()
}

fn latency_chart(hours: &[Hour], [from, to]: [Markup; 2]) -> Markup {
    let micros = |duration: Option<Duration>| {
        let micros = duration.unwrap_or_default().as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    };
    let columns = hours.iter().map(|(_, counts)| {
        let median = micros(counts.latency.percentile(50));
        let upper = micros(counts.latency.percentile(95));
        [median, upper.saturating_sub(median)]
    });
    let columns: Vec<_> = columns.collect();
    let latency = total(hours).latency;
    let chart = ColumnChart {
        series: LATENCY_SERIES,
        columns: &columns,
        summary: format!(
            "24 hours: median {}, 95th percentile {}",
            percentile(&latency, 50),
            percentile(&latency, 95),
        ),
        from,
        to,
    };
    chart.render_with(|micros| duration_text(Duration::from_micros(micros)))
}

/// Returns the labels of the first and the last hour.
fn ends(hours: &[Hour]) -> [Markup; 2] {
    let label =
        |hour: Option<&Hour>| html! { @if let Some((start, _)) = hour { (hour_label(*start)) } };
    [label(hours.first()), label(hours.last())]
}

/// Renders the beginning of an hour in UTC, without seconds. The script shows the local time instead.
pub(super) fn hour_label(hour: Timestamp) -> Markup {
    let utc = utc_time(hour);
    html! { time datetime=(hour) title=(utc) { (utc.replace(":00:00", ":00")) } }
}

pub(super) fn usage_row(column: &'static str, label: Markup, counts: &UsageCounts) -> TableRow {
    let count = |count: u64| html! { (count) };
    vec![
        (column, label),
        ("Requests", count(counts.requests)),
        ("Units", count(counts.units)),
        ("401", count(counts.unauthenticated)),
        ("403", count(counts.forbidden)),
        ("429", count(counts.rate_limited)),
        ("5xx", count(counts.errors)),
    ]
}

fn latency_row(hour: Timestamp, latency: &LatencyHistogram) -> TableRow {
    let mut row = vec![
        ("Hour", hour_label(hour)),
        ("Responses", html! { (latency.count()) }),
    ];
    row.extend(latency_cells(latency));
    row
}

fn latency_cells(latency: &LatencyHistogram) -> [(&'static str, Markup); 3] {
    let mean = latency.mean().map_or_else(|| "none".into(), duration_text);
    [
        ("Mean", html! { (mean) }),
        ("Median", html! { (percentile(latency, 50)) }),
        ("p95", html! { (percentile(latency, 95)) }),
    ]
}

fn percentile(latency: &LatencyHistogram, percent: u8) -> String {
    match latency.percentile(percent) {
        None => "none".into(),
        Some(duration) if duration >= MAX_LATENCY => "at least 5\u{a0}s".into(),
        Some(duration) => duration_text(duration),
    }
}

/// Formats a duration with two digits or more.
fn duration_text(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1000.0;
    match duration.as_millis() {
        0 if duration.is_zero() => "0\u{a0}ms".into(),
        0..10 => format!("{millis:.1}\u{a0}ms"),
        10..1000 => format!("{millis:.0}\u{a0}ms"),
        _ => format!("{:.1}\u{a0}s", millis / 1000.0),
    }
}

/// Renders the id of an operation with its method and path.
fn endpoint(operation: &str) -> Markup {
    let request = match operation {
        OperationUsage::DOCUMENT => "GET /openapi.json".into(),
        OperationUsage::OTHER => "unknown paths and methods".into(),
        operation => find_operation(operation)
            .map(|(method, path)| format!("{method} {path}"))
            .unwrap_or_default(),
    };
    html! { code { (operation) } " " small { (breakable(&request)) } }
}

async fn token_rows(
    context: &PageContext,
    tokens: &[(Lookup, UsageCounts)],
) -> Result<Vec<TableRow>, PanelError> {
    let store = &context.panel.stores.tokens;
    let found = join_all(tokens.iter().map(|(lookup, _)| store.find(lookup))).await;
    let mut rows = Vec::new();
    for ((lookup, counts), token) in tokens.iter().zip(found) {
        let name = html! {
            @match token? {
                Some(token) => a href=(context.url(&page_path(&token))) { (breakable(label(&token).unwrap_or(NO_LABEL))) },
                None => "(deleted)",
            }
            " " small { code { (lookup) } }
        };
        rows.push(usage_row("Token", name, counts));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(hour: u32, operation: &'static str, requests: u64) -> OperationUsage {
        let mut counts = OperationCounts::default();
        counts.usage.requests = requests;
        OperationUsage {
            hour: Timestamp::default().saturating_add(hour * HOUR),
            operation: operation.into(),
            counts,
        }
    }

    #[test]
    fn requests_are_summed_by_hour_and_by_operation() {
        let all = [
            usage(0, "getMe", 1),
            usage(0, "search", 2),
            usage(23, "getMe", 4),
            usage(24, "listPosts", 2),
        ];
        let now = Timestamp::default().saturating_add(23 * HOUR);
        let hours = by_hour(&all, now);
        let hours: Vec<_> = hours.iter().map(|(_, sum)| sum.usage.requests).collect();
        assert_eq!((hours.len(), hours[0], hours[1], hours[23]), (24, 3, 0, 4));
        let operations = by_operation(&all).into_iter();
        let operations = operations.map(|(operation, sum)| (operation, sum.usage.requests));
        let expected = [("getMe", 5), ("listPosts", 2), ("search", 2)];
        assert_eq!(operations.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn durations_have_a_fitting_unit() {
        for (micros, expected) in [
            (0, "0\u{a0}ms"),
            (40, "0.0\u{a0}ms"),
            (2_500, "2.5\u{a0}ms"),
            (37_400, "37\u{a0}ms"),
            (1_250_000, "1.2\u{a0}s"),
        ] {
            assert_eq!(duration_text(Duration::from_micros(micros)), expected);
        }
    }
}
