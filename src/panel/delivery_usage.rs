//! Webhook deliveries on the usage page, by interval, state and endpoint.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::chart::ColumnChart;
use super::components::{badge, breakable, counted, empty, number, number_table};
use super::deliveries::url;
use super::endpoints::FAILING;
use super::figure::Figure;
use super::intervals::Period;
use super::page_context::PageContext;
use super::response::PanelResult;
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

/// Number of endpoints on the page. The page shows the endpoints with the most failed deliveries.
const TOP_ENDPOINTS: usize = 10;

/// Maximum number of failing endpoints that are listed.
const MAX_FAILING: usize = 5;

/// Deliveries that were first queued in a period.
pub(super) struct Deliveries {
    endpoints: Vec<Endpoint>,
    counts: Vec<DeliveryCount>,
    /// Failed deliveries of the period before; `None` if it had no deliveries, the worker may have removed a part of them, or
    /// the store has left out a part of them.
    failed_before: Option<u64>,
}

impl Deliveries {
    pub(super) async fn load(context: &PageContext, period: &Period) -> PanelResult<Self> {
        let stores = context.webhooks()?;
        // A worker keeps finished deliveries for seven days by default.
        let has_before = period.length() <= DAY;
        let length = period.length().saturating_mul(1 + u32::from(has_before));
        let counts = stores.deliveries.delivery_stats(length, context.now).await?;
        // Of each state, the store reads the latest deliveries of both periods together.
        let is_complete = !is_capped(
            &counts,
            &[DeliveryState::Dead, DeliveryState::Gone, DeliveryState::Withheld],
        );
        let hours = period.length().as_secs() / HOUR.as_secs();
        let (counts, before): (Vec<_>, Vec<_>) =
            counts.into_iter().partition(|one| one.hours_ago < hours);
        Ok(Self {
            endpoints: stores.endpoints.list().await?,
            counts,
            failed_before: (has_before && is_complete && !before.is_empty())
                .then(|| failed(&before)),
        })
    }

    /// Returns the number of failed deliveries.
    pub(super) fn failed(&self) -> Figure {
        Figure {
            name: "Failed deliveries",
            section: "deliveries",
            count: failed(&self.counts),
            before: self.failed_before,
        }
    }

    /// Renders the endpoints that fail.
    pub(super) fn failing_endpoints(&self, context: &PageContext) -> Markup {
        let failing: Vec<_> =
            self.endpoints.iter().filter(|one| one.failing_since.is_some()).collect();
        html! {
            @if failing.is_empty() {
                @if !self.endpoints.is_empty() { p.notice { "No endpoint is failing." } }
            } @else {
                div.alert {
                    p { (counted(failing.len(), "endpoint is failing", "endpoints are failing")) ":" }
                    ul.parts {
                        @for endpoint in failing.iter().take(MAX_FAILING) {
                            li { a href=(context.url(&format!("/webhooks/{}", endpoint.id))) { (breakable(&endpoint.url)) } }
                        }
                    }
                    @if failing.len() > MAX_FAILING {
                        p { a href={ (context.url("/webhooks")) "?state=" (FAILING) } { "All failing endpoints" } }
                    }
                }
            }
        }
    }

    /// Renders the chart, the numbers by state, and the table of endpoints.
    pub(super) fn section(&self, context: &PageContext, period: &Period) -> Markup {
        let [webhooks, new] = ["/webhooks", "/webhooks/new"].map(|path| context.url(path));
        html! {
            section aria-labelledby="deliveries" {
                h2 id="deliveries" { "Webhook deliveries" }
                @if self.counts.is_empty() {
                    (empty(&format!("No deliveries in the last {}.", period.name), html! {
                        @if self.endpoints.is_empty() {
                            a href=(new) { "Add an endpoint" } " to receive events."
                        } @else {
                            "Send a ping to one of the " a href=(webhooks) { "endpoints" } " to create a delivery."
                        }
                    }))
                } @else {
                    (self.chart(period))
                    @if is_capped(&self.counts, DeliveryState::ALL) {
                        p.hint { "Of each state, the latest " (number(DeliveryCount::MAX_DELIVERIES.into())) " deliveries are counted." }
                    }
                    p.states {
                        @for state in DeliveryState::ALL {
                            a href=(list(context, period, *state, None)) {
                                (badge(state.as_str())) " " (number(in_state(self.counts.iter(), *state)))
                            }
                        }
                    }
                }
            }
            @if !self.counts.is_empty() {
                section aria-labelledby="by-endpoint" {
                    h2 id="by-endpoint" { "Deliveries by endpoint" }
                    @let sums = self.by_endpoint();
                    @if sums.len() > TOP_ENDPOINTS { p { "The " (TOP_ENDPOINTS) " endpoints with the most failed deliveries." } }
                    (number_table(sums.iter().take(TOP_ENDPOINTS).map(|id| {
                        let path = context.url(&format!("/webhooks/{id}"));
                        let mut row = vec![("Endpoint", html! { a href=(path) { (breakable(&url(id, &self.endpoints))) } })];
                        row.extend(DeliveryState::ALL.iter().map(|state| {
                            let of_endpoint = self.counts.iter().filter(|one| one.endpoint_id == **id);
                            let count = in_state(of_endpoint, *state);
                            (state.as_str(), html! {
                                @if count > 0 { a href=(list(context, period, *state, Some(id))) { (number(count)) } } @else { "0" }
                            })
                        }));
                        row
                    })))
                    p { a href=(webhooks) { "All endpoints" } " · " a href=(context.url("/deliveries")) { "All deliveries" } }
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
        let [total, most] = [total, most].map(number);
        let name = period.name;
        let chart = ColumnChart {
            series: SERIES,
            columns: &columns,
            summary: format!("{total} {noun} in {name} · busiest interval: {most}"),
            from: html! { (name) " ago" },
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

    /// Returns the endpoints, the one with the most failed deliveries first.
    fn by_endpoint(&self) -> Vec<&EndpointId> {
        let mut sums = BTreeMap::<_, Counts>::new();
        for one in &self.counts {
            add(sums.entry(&one.endpoint_id).or_default(), one);
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, [delivered, pending, failed])| {
            std::cmp::Reverse((*failed, delivered + pending))
        });
        sums.into_iter().map(|(id, _)| id).collect()
    }
}

/// Returns the URL of the list of the period's deliveries in a state.
fn list(
    context: &PageContext,
    period: &Period,
    state: DeliveryState,
    endpoint: Option<&EndpointId>,
) -> String {
    let since = context.now.saturating_sub(period.length()).to_string();
    let minute: String = since.chars().take("2026-01-31T12:00".len()).collect();
    let endpoint = endpoint.map_or_else(String::new, |id| format!("&endpoint={id}"));
    let state = state.as_str();
    context.url(&format!("/deliveries?state={state}{endpoint}&from={minute}"))
}

fn in_state<'a>(counts: impl Iterator<Item = &'a DeliveryCount>, state: DeliveryState) -> u64 {
    let in_state = counts.filter(|one| one.state == state);
    in_state.map(|one| one.count).sum()
}

/// Returns whether the store has left out older deliveries in one of these states.
fn is_capped(counts: &[DeliveryCount], states: &[DeliveryState]) -> bool {
    states
        .iter()
        .any(|state| in_state(counts.iter(), *state) >= DeliveryCount::MAX_DELIVERIES.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint_id(number: u32) -> EndpointId {
        EndpointId::parse(&format!("whe_{number}")).unwrap()
    }

    fn count(hours_ago: u64, state: DeliveryState, endpoint: u32, count: u64) -> DeliveryCount {
        let endpoint_id = endpoint_id(endpoint);
        DeliveryCount { hours_ago, endpoint_id, state, count }
    }

    #[test]
    fn deliveries_are_summed_by_state_endpoint_and_interval() {
        let deliveries = Deliveries {
            endpoints: Vec::new(),
            counts: vec![
                count(0, DeliveryState::Queued, 2, 1),
                count(5, DeliveryState::Dead, 2, 20_000),
                count(6, DeliveryState::Delivered, 1, 7),
                count(167, DeliveryState::Delivered, 2, 2),
            ],
            failed_before: None,
        };
        assert_eq!(deliveries.failed().count, 20_000);
        let delivered = in_state(deliveries.counts.iter(), DeliveryState::Delivered);
        assert_eq!(delivered, 9);
        assert!(is_capped(&deliveries.counts, DeliveryState::ALL));
        let [more, fewer] = [2, 1].map(endpoint_id);
        assert_eq!(deliveries.by_endpoint(), [&more, &fewer]);
        let [_, week, _] = &Period::ALL;
        let intervals = deliveries.by_interval(week);
        assert_eq!(intervals.len(), 28);
        assert_eq!((intervals[27], intervals[26]), ([0, 1, 20_000], [7, 0, 0]));
        assert_eq!(intervals[0], [2, 0, 0]);
    }

    #[test]
    fn each_state_belongs_to_one_group() {
        use DeliveryState::{Dead, Delivered, Gone, Queued, Retrying, Withheld};
        for (state, expected) in [
            (Delivered, [1, 0, 0]),
            (Queued, [0, 1, 0]),
            (Retrying, [0, 1, 0]),
            (Dead, [0, 0, 1]),
            (Gone, [0, 0, 1]),
            (Withheld, [0, 0, 1]),
        ] {
            let mut sums = [0; 3];
            add(&mut sums, &count(0, state, 1, 1));
            assert_eq!(sums, expected, "{}", state.as_str());
        }
    }

    #[test]
    fn endpoints_with_the_same_failures_are_ordered_by_their_other_deliveries() {
        let counts = vec![
            count(0, DeliveryState::Delivered, 1, 3),
            count(0, DeliveryState::Queued, 2, 4),
            count(0, DeliveryState::Delivered, 3, 2),
            count(0, DeliveryState::Retrying, 3, 3),
            count(0, DeliveryState::Dead, 4, 1),
        ];
        let deliveries = Deliveries { endpoints: Vec::new(), counts, failed_before: None };
        let [first, second, third, fourth] = [4, 3, 2, 1].map(endpoint_id);
        assert_eq!(deliveries.by_endpoint(), [&first, &second, &third, &fourth]);
    }
}
