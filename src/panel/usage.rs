//! Usage page: API requests, deliveries and attempts of the last day in tables and SVG charts.

use std::collections::HashMap;

use maud::{Markup, html};

use super::api_usage;
use super::chart::{Bar, ColumnChart, bar_chart};
use super::components::{TableRow, badge, breakable, empty, number_table};
use super::deliveries::{quarantine_warning, url};
use super::page_context::PageContext;
use super::response::PageResult;
use crate::model::{DAY, EndpointId};
use crate::store::DeliveryCount;
use crate::webhook::DeliveryState;

/// Labels of the attempt times in [`DeliveryStats`](crate::store::DeliveryStats).
const DURATIONS: [&str; 6] = [
    "under 10 ms",
    "10 to 100 ms",
    "100 to 500 ms",
    "0.5 to 1 s",
    "1 to 5 s",
    "5 s or more",
];

/// Number of hours of the charts.
const HOURS: usize = 24;

/// `GET /usage`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let webhooks = context.webhooks();
    let since = context.now.saturating_sub(DAY);
    let usage = webhooks
        .deliveries
        .delivery_stats(since, context.now)
        .await?;
    let endpoints = webhooks.endpoints.list().await?;
    let states = by_state(&usage.deliveries).map(|(state, count)| {
        let state = state.as_str();
        let path = context.url(&format!("/deliveries?state={state}"));
        Bar::new(html! { a href=(path) { (badge(state)) } }, state, count)
    });
    let receivers = by_endpoint(&usage.deliveries)
        .into_iter()
        .map(|(id, count)| {
            let path = context.url(&format!("/webhooks/{id}"));
            let label = html! { a href=(path) { (breakable(&url(id, &endpoints))) } };
            Bar::new(label, "plain", count)
        });
    let times = DURATIONS.iter().zip(usage.attempt_durations);
    let times = times.map(|(label, count)| Bar::new(html! { (label) }, "plain", count));
    let main = html! {
        p.lead { "API requests and webhook deliveries of the last 24 hours." }
        (api_usage::sections(context).await?)
        section aria-labelledby="deliveries" {
            h2 id="deliveries" { "Webhook deliveries" }
            p { "Deliveries queued in the last 24 hours, by current state." }
            (quarantine_warning(context).await?)
        }
        @if usage.deliveries.is_empty() {
            (empty("No deliveries in the last 24 hours.", html! {
                @if endpoints.is_empty() {
                    a href=(context.url("/webhooks")) { "Add an endpoint" } " to receive events."
                } @else {
                    "Send a ping to one of the " a href=(context.url("/webhooks")) { "endpoints" } " to create a delivery."
                }
            }))
        } @else {
            (deliveries_by_hour(&by_hour(&usage.deliveries)))
            (bar_chart("by-state", "Deliveries by state", "State", "Deliveries", states))
            (bar_chart("by-endpoint", "Deliveries by endpoint", "Endpoint", "Deliveries", receivers))
            (bar_chart("times", "Attempt durations", "Duration", "Attempts", times))
            p.hint { "This chart counts all attempts of the last 24 hours, including attempts of deliveries that were queued earlier." }
        }
    };
    context.show("Usage", main)
}

/// Sums deliveries by state.
fn by_state(counts: &[DeliveryCount]) -> impl Iterator<Item = (DeliveryState, u64)> {
    DeliveryState::ALL.iter().map(move |state| {
        let in_state = counts.iter().filter(|one| one.state == *state);
        (*state, in_state.map(|one| one.count).sum())
    })
}

/// Sums deliveries by endpoint, the largest sum first.
fn by_endpoint(counts: &[DeliveryCount]) -> Vec<(&EndpointId, u64)> {
    let mut sums = HashMap::new();
    for one in counts {
        *sums.entry(&one.endpoint_id).or_insert(0) += one.count;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(one, few), (other, many)| many.cmp(few).then_with(|| one.cmp(other)));
    sums
}

/// Numbers of deliveries that were queued in one hour, in the order of [`HOUR_SERIES`].
type HourCounts = [u64; 3];

/// Classes and names of the groups of states in the chart of deliveries by hour.
const HOUR_SERIES: [(&str, &str); 3] = [
    ("delivered", "delivered"),
    ("queued", "queued or retrying"),
    ("dead", "dead, gone or withheld"),
];

/// Sums deliveries by hour, the oldest hour first.
fn by_hour(counts: &[DeliveryCount]) -> [HourCounts; HOURS] {
    let mut hours = [[0; 3]; HOURS];
    for one in counts {
        let ago = usize::try_from(one.hours_ago).unwrap_or(usize::MAX);
        if let Some(hour) = hours.iter_mut().rev().nth(ago) {
            let [delivered, pending, failed] = hour;
            let sum = match one.state {
                DeliveryState::Delivered => delivered,
                DeliveryState::Queued | DeliveryState::Retrying => pending,
                DeliveryState::Dead | DeliveryState::Gone | DeliveryState::Withheld => failed,
            };
            *sum += one.count;
        }
    }
    hours
}

fn deliveries_by_hour(hours: &[HourCounts; HOURS]) -> Markup {
    let totals = hours.map(|counts| counts.iter().sum());
    let total: u64 = totals.iter().sum();
    let most = totals.iter().max().unwrap_or(&0);
    let noun = if total == 1 { "delivery" } else { "deliveries" };
    let chart = ColumnChart {
        series: HOUR_SERIES,
        columns: hours,
        summary: format!("{total} {noun} in 24 hours · busiest hour: {most}"),
        from: html! { "24 hours ago" },
        to: html! { "now" },
    };
    html! {
        section aria-labelledby="by-hour" {
            h2 id="by-hour" { "Deliveries by hour" }
            (chart.render())
            details.data {
                summary { "Delivery counts by hour" }
                (number_table((0..).zip(hours.iter().rev()).map(|(ago, counts)| hour_row(ago, counts))))
            }
        }
    }
}

fn hour_row(hours_ago: u64, [delivered, pending, failed]: &HourCounts) -> TableRow {
    vec![
        ("Hours ago", html! { (hours_ago) " to " (hours_ago + 1) }),
        ("Delivered", html! { (delivered) }),
        ("Queued or retrying", html! { (pending) }),
        ("Dead, gone or withheld", html! { (failed) }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(hours_ago: u64, state: DeliveryState, endpoint: i64, count: u64) -> DeliveryCount {
        DeliveryCount {
            hours_ago,
            endpoint_id: EndpointId::from(endpoint),
            state,
            count,
        }
    }

    #[test]
    fn deliveries_are_summed_by_state_endpoint_and_hour() {
        let all = [
            count(0, DeliveryState::Queued, 2, 1),
            count(0, DeliveryState::Dead, 2, 20_000),
            count(1, DeliveryState::Delivered, 1, 7),
            count(23, DeliveryState::Delivered, 2, 2),
        ];
        let states = by_state(&all).map(|(_, count)| count);
        assert_eq!(states.collect::<Vec<_>>(), [1, 0, 9, 20_000, 0, 0]);
        let endpoints = by_endpoint(&all).into_iter();
        let endpoints: Vec<_> = endpoints
            .map(|(id, count)| (id.to_i64().unwrap(), count))
            .collect();
        assert_eq!(endpoints, [(2, 20_003), (1, 7)]);
        let hours = by_hour(&all);
        assert_eq!((hours[23], hours[22]), ([0, 1, 20_000], [7, 0, 0]));
        assert_eq!(hours[0], [2, 0, 0]);
    }
}
