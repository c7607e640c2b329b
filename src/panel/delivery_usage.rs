//! Webhook deliveries on the usage page, by interval, state and endpoint.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::chart::ColumnChart;
use super::components::{TableRow, badge, breakable, empty, number_table};
use super::deliveries::url;
use super::intervals::Period;
use super::page_context::PageContext;
use super::response::PanelError;
use crate::model::{DAY, EndpointId, HOUR};
use crate::store::DeliveryCount;
use crate::webhook::{DeliveryState, Endpoint};

/// Numbers of deliveries in the order of [`SERIES`].
type Counts = [u64; 3];

/// Classes and names of the groups of states.
const SERIES: [(&str, &str); 3] = [
    ("delivered", "delivered"),
    ("queued", "queued or retrying"),
    ("dead", "dead, gone or withheld"),
];

/// Deliveries that were first queued in a period.
pub(super) struct Deliveries {
    counts: Vec<DeliveryCount>,
    /// Failed deliveries of the period before; `None` if the worker may have removed a part of them.
    pub(super) failed_before: Option<u64>,
}

impl Deliveries {
    pub(super) async fn load(context: &PageContext, period: &Period) -> Result<Self, PanelError> {
        let deliveries = &context.webhooks().deliveries;
        // A worker keeps finished deliveries for seven days by default.
        let has_before = period.length() <= DAY;
        let length = period.length().saturating_mul(1 + u32::from(has_before));
        let since = context.now.saturating_sub(length);
        let counts = deliveries.delivery_stats(since, context.now).await?;
        let hours = period.length().as_secs() / HOUR.as_secs();
        let (counts, before): (Vec<_>, Vec<_>) =
            counts.into_iter().partition(|one| one.hours_ago < hours);
        Ok(Self {
            counts,
            failed_before: has_before.then(|| failed(&before)),
        })
    }

    /// Returns the number of failed deliveries.
    pub(super) fn failed(&self) -> u64 {
        failed(&self.counts)
    }

    /// Renders the chart, the numbers by state, and the table of endpoints.
    pub(super) fn section(
        &self,
        context: &PageContext,
        period: &Period,
        endpoints: &[Endpoint],
    ) -> Markup {
        let [webhooks, new] = ["/webhooks", "/webhooks/new"].map(|path| context.url(path));
        html! {
            section aria-labelledby="deliveries" {
                h2 id="deliveries" { "Webhook deliveries" }
                @if self.counts.is_empty() {
                    (empty(&format!("No deliveries in the last {}.", period.name), html! {
                        @if endpoints.is_empty() {
                            a href=(new) { "Add an endpoint" } " to receive events."
                        } @else {
                            "Send a ping to one of the " a href=(webhooks) { "endpoints" } " to create a delivery."
                        }
                    }))
                } @else {
                    (self.chart(period))
                    p.states {
                        @for state in DeliveryState::ALL {
                            a href={ (context.url("/deliveries")) "?state=" (state.as_str()) } { (badge(state.as_str())) }
                            " " (self.in_state(*state)) " "
                        }
                    }
                }
            }
            @if !self.counts.is_empty() {
                section aria-labelledby="by-endpoint" {
                    h2 id="by-endpoint" { "Deliveries by endpoint" }
                    (number_table(self.by_endpoint().into_iter().map(|(id, counts)| {
                        let path = context.url(&format!("/webhooks/{id}"));
                        row("Endpoint", html! { a href=(path) { (breakable(&url(id, endpoints))) } }, &counts)
                    })))
                    p { a href=(context.url("/deliveries")) { "All deliveries" } }
                }
            }
        }
    }

    fn chart(&self, period: &Period) -> Markup {
        let columns = self.by_interval(period);
        let totals = columns.iter().map(|counts| counts.iter().sum::<u64>());
        let total = totals.clone().sum::<u64>();
        let most = totals.max().unwrap_or(0);
        let noun = if total == 1 { "delivery" } else { "deliveries" };
        let chart = ColumnChart {
            series: SERIES,
            columns: &columns,
            summary: format!(
                "{total} {noun} in {} · busiest interval: {most}",
                period.name
            ),
            from: html! { (period.name) " ago" },
            to: html! { "now" },
        };
        chart.render()
    }

    /// Sums deliveries by interval, the oldest interval first.
    fn by_interval(&self, period: &Period) -> Vec<Counts> {
        let mut intervals = vec![[0; 3]; period.intervals as usize];
        let hours = period.interval.as_secs() / HOUR.as_secs();
        for one in &self.counts {
            let ago = usize::try_from(one.hours_ago / hours).unwrap_or(usize::MAX);
            if let Some(counts) = intervals.iter_mut().rev().nth(ago) {
                add(counts, one);
            }
        }
        intervals
    }

    fn in_state(&self, state: DeliveryState) -> u64 {
        let in_state = self.counts.iter().filter(|one| one.state == state);
        in_state.map(|one| one.count).sum()
    }

    /// Sums deliveries by endpoint, the largest number of failed deliveries first.
    fn by_endpoint(&self) -> Vec<(&EndpointId, Counts)> {
        let mut sums = BTreeMap::new();
        for one in &self.counts {
            add(sums.entry(&one.endpoint_id).or_default(), one);
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, [delivered, pending, failed])| {
            std::cmp::Reverse((*failed, delivered + pending))
        });
        sums
    }
}

fn failed(counts: &[DeliveryCount]) -> u64 {
    let mut sums = [0; 3];
    for one in counts {
        add(&mut sums, one);
    }
    let [.., failed] = sums;
    failed
}

fn add([delivered, pending, failed]: &mut Counts, one: &DeliveryCount) {
    let sum = match one.state {
        DeliveryState::Delivered => delivered,
        DeliveryState::Queued | DeliveryState::Retrying => pending,
        DeliveryState::Dead | DeliveryState::Gone | DeliveryState::Withheld => failed,
    };
    *sum += one.count;
}

fn row(column: &'static str, label: Markup, [delivered, pending, failed]: &Counts) -> TableRow {
    vec![
        (column, label),
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
    fn deliveries_are_summed_by_state_endpoint_and_interval() {
        let deliveries = Deliveries {
            counts: vec![
                count(0, DeliveryState::Queued, 2, 1),
                count(5, DeliveryState::Dead, 2, 20_000),
                count(6, DeliveryState::Delivered, 1, 7),
                count(167, DeliveryState::Delivered, 2, 2),
            ],
            failed_before: None,
        };
        assert_eq!(deliveries.failed(), 20_000);
        assert_eq!(deliveries.in_state(DeliveryState::Delivered), 9);
        let endpoints: Vec<_> = deliveries
            .by_endpoint()
            .into_iter()
            .map(|(id, counts)| (id.to_i64().unwrap(), counts))
            .collect();
        assert_eq!(endpoints, [(2, [2, 1, 20_000]), (1, [7, 0, 0])]);
        let [_, week, _] = &Period::ALL;
        let intervals = deliveries.by_interval(week);
        assert_eq!(intervals.len(), 28);
        assert_eq!((intervals[27], intervals[26]), ([0, 1, 20_000], [7, 0, 0]));
        assert_eq!(intervals[0], [2, 0, 0]);
    }
}
