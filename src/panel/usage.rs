//! Usage page: API requests, deliveries and attempts of the last day in tables and SVG charts.

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, html};

use super::components::{TableRow, badge, breakable, empty, table, utc_time};
use super::deliveries::{quarantine_warning, url};
use super::page_context::PageContext;
use super::response::{PageResult, PanelError};
use crate::model::EndpointId;
use crate::store::{DeliveryCount, TokenUsage, UsageCounts};
use crate::webhook::DeliveryState;

/// Period of the statistics.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Number of tokens on the page: those with the most requests.
const TOP_TOKENS: u32 = 20;

/// Labels of the attempt times in [`UsageStats`](crate::store::UsageStats).
const DURATIONS: [&str; 6] = [
    "under 10 ms",
    "10 to 100 ms",
    "100 to 500 ms",
    "0.5 to 1 s",
    "1 to 5 s",
    "5 s or more",
];

const BAR_WIDTH: u64 = 200;
const BAR_HEIGHT: u64 = 12;
const COLUMN_HEIGHT: u64 = 120;
const COLUMN_STEP: u64 = 30;

/// `GET /usage`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let webhooks = context.webhooks();
    let since = context.now.saturating_sub(DAY);
    let usage = webhooks.deliveries.usage(since, context.now).await?;
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
        (api_requests(context).await?)
        h2 { "Webhook deliveries" }
        p { "Deliveries queued in the last 24 hours, by current state." }
        (quarantine_warning(context).await?)
        @if usage.deliveries.is_empty() {
            (empty("No deliveries in the last 24 hours.", html! {
                "Send a ping to one of the " a href=(context.url("/webhooks")) { "endpoints" } " to create a delivery."
            }))
        } @else {
            (column_chart("by-hour", "By hour", &by_hour(&usage.deliveries)))
            (bar_chart("by-state", "By state", "State", "Deliveries", states))
            (bar_chart("by-endpoint", "By endpoint", "Endpoint", "Deliveries", receivers))
            (bar_chart("times", "Attempt times", "Duration", "Attempts", times))
            p.hint { "Counts all attempts of the last 24 hours, including those of deliveries that were queued earlier." }
        }
    };
    context.show("Usage", main)
}

/// Renders the requests with tokens by hour and by token.
async fn api_requests(context: &PageContext) -> Result<Markup, PanelError> {
    let stores = &context.panel.stores;
    let since = TokenUsage::hour_of(context.now.saturating_sub(DAY - HOUR));
    let hours = stores.usage.by_hour(since, None).await?;
    let mut tokens = Vec::new();
    for (token, counts) in stores.usage.by_token(since, TOP_TOKENS).await? {
        let record = stores.tokens.find(&token).await?;
        let label = record.map_or_else(|| "(deleted)".into(), |record| record.label);
        tokens.push(usage_row(
            "Token",
            html! { strong { (breakable(&label)) } " " code { (token) } },
            &counts,
        ));
    }
    let hours = hours.iter().rev().map(|(hour, counts)| {
        let label = html! { time datetime=(hour) { (utc_time(*hour)) } };
        usage_row("Hour", label, counts)
    });
    Ok(html! {
        @if tokens.is_empty() {
            (empty("No API requests with a token in the last 24 hours.", html! {
                "Requests are shown at most a minute after they were sent."
            }))
        } @else {
            section aria-labelledby="requests-by-hour" {
                h2 id="requests-by-hour" { "API requests by hour" }
                (table(hours))
            }
            section aria-labelledby="requests-by-token" {
                h2 id="requests-by-token" { "API requests by token" }
                (table(tokens))
            }
        }
    })
}

fn usage_row(column: &'static str, label: Markup, counts: &UsageCounts) -> TableRow {
    let count = |count: u64| html! { (count) };
    vec![
        (column, label),
        ("Requests", count(counts.requests)),
        ("Units", count(counts.units)),
        ("Refused with 429", count(counts.rate_limited)),
        ("Refused with 401", count(counts.unauthenticated)),
        ("Refused with 403", count(counts.forbidden)),
        ("Errors", count(counts.errors)),
    ]
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

/// Deliveries that were queued in one hour, by their current state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HourCounts {
    delivered: u64,
    /// Queued or retrying.
    pending: u64,
    /// Dead, gone or withheld.
    failed: u64,
}

impl HourCounts {
    fn total(&self) -> u64 {
        self.delivered + self.pending + self.failed
    }
}

/// Sums deliveries by hour, the oldest hour first.
fn by_hour(counts: &[DeliveryCount]) -> [HourCounts; 24] {
    let mut hours = [HourCounts::default(); 24];
    for one in counts {
        let ago = usize::try_from(one.hours_ago).unwrap_or(usize::MAX);
        if let Some(hour) = hours.iter_mut().rev().nth(ago) {
            let sum = match one.state {
                DeliveryState::Delivered => &mut hour.delivered,
                DeliveryState::Queued | DeliveryState::Retrying => &mut hour.pending,
                DeliveryState::Dead | DeliveryState::Gone | DeliveryState::Withheld => {
                    &mut hour.failed
                }
            };
            *sum += one.count;
        }
    }
    hours
}

/// A row of a bar chart. Its class gives the colour.
struct Bar {
    label: Markup,
    class: &'static str,
    count: u64,
}

impl Bar {
    fn new(label: Markup, class: &'static str, count: u64) -> Self {
        Self {
            label,
            class,
            count,
        }
    }
}

/// Renders a table with a bar beside each number.
fn bar_chart(
    id: &str,
    title: &str,
    label_column: &str,
    count_column: &str,
    rows: impl Iterator<Item = Bar>,
) -> Markup {
    let rows: Vec<_> = rows.collect();
    let most = rows.iter().map(|row| row.count).max().unwrap_or(0).max(1);
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            table.chart {
                thead { tr { th scope="col" { (label_column) } th.number scope="col" { (count_column) } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.label) }
                            td.number { (row.count) (bar(row.class, scaled(row.count, most, BAR_WIDTH))) }
                        }
                    }
                }
            }
        }
    }
}

/// Hidden from screen readers, which read the number beside it.
fn bar(class: &str, length: u64) -> Markup {
    let (width, height) = (BAR_WIDTH, BAR_HEIGHT);
    html! {
        svg.gauge aria-hidden="true" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            preserveAspectRatio="none" {
            rect.ground width=(width) height=(height) rx="3" {}
            rect class={ "of-" (class) } width=(length) height=(height) rx="3" {}
        }
    }
}

/// Renders a column for each hour, in three colours.
fn column_chart(id: &str, title: &str, hours: &[HourCounts; 24]) -> Markup {
    let most = hours
        .iter()
        .map(HourCounts::total)
        .max()
        .unwrap_or(0)
        .max(1);
    let (width, height) = (COLUMN_STEP * 24, COLUMN_HEIGHT);
    let total: u64 = hours.iter().map(HourCounts::total).sum();
    let noun = if total == 1 { "delivery" } else { "deliveries" };
    let summary = format!("{total} {noun} in 24 hours · busiest hour: {most}");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            figure {
                svg.columns role="img" aria-label=(summary) viewBox={ "0 0 " (width) " " (height) }
                    preserveAspectRatio="none" {
                    line.axis x1="0" x2=(width) y1=(height) y2=(height) {}
                    @for (place, hour) in (0..).zip(hours) { (column(place, hour, most)) }
                }
                p.span { span { "24 hours ago" } span { "now" } }
                figcaption {
                    span { (summary) }
                    span.key.of-delivered { "delivered" }
                    span.key.of-queued { "queued or retrying" }
                    span.key.of-dead { "dead, gone or withheld" }
                }
            }
        }
    }
}

/// Renders the parts of a column from bottom to top: delivered, pending, failed.
fn column(place: u64, hour: &HourCounts, most: u64) -> Markup {
    let parts = [
        ("of-delivered", hour.delivered),
        ("of-queued", hour.pending),
        ("of-dead", hour.failed),
    ];
    let mut below = 0;
    html! {
        @for (class, count) in parts {
            @if count > 0 {
                @let part_height = scaled(count, most, COLUMN_HEIGHT - 10);
                @let top = COLUMN_HEIGHT.saturating_sub(below + part_height);
                rect class=(class) x=(place * COLUMN_STEP + 3) y=(top) width=(COLUMN_STEP - 6) height=(part_height) {}
                @let () = below += part_height;
            }
        }
    }
}

/// Scales a count to a length. A count above 0 is at least 2 units long, so that it is visible.
fn scaled(count: u64, most: u64, length: u64) -> u64 {
    match count {
        0 => 0,
        _ => (count.saturating_mul(length) / most).max(2),
    }
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
        assert_eq!((hours[23].pending, hours[23].failed), (1, 20_000));
        assert_eq!((hours[22].delivered, hours[0].delivered), (7, 2));
    }
}
