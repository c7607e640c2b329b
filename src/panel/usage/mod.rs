//! Usage: deliveries and attempts of the last day, counted by the store.

mod chart;
mod counts;

use std::time::Duration;

use maud::html;

use super::answer::Outcome;
use super::deliveries::{quarantine, url};
use super::parts::{badge, empty, long};
use super::visit::Visit;
use crate::store::{DeliveryCount, Usage};
use crate::webhook::Endpoint;
use chart::{Bar, bars, columns};
use counts::{DURATIONS, Hours, by_endpoint, by_state};

/// Period of the statistics.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// `GET /usage`
pub(super) async fn show(visit: &Visit) -> Outcome {
    let webhooks = visit.webhooks();
    let since = visit.now.minus(DAY);
    let usage = webhooks.deliveries.usage(since, visit.now).await?;
    let endpoints = webhooks.endpoints.all().await?;
    let main = html! {
        p.lead { "The deliveries that were queued in the last 24 hours, by their state now." }
        (quarantine(visit).await?)
        @if usage.deliveries.is_empty() {
            (empty("There were none.", html! {
                "Send a ping to one of the " a href=(visit.at("/webhooks")) { "endpoints" } " to see one here."
            }))
        } @else {
            (columns("by-hour", "By hour", &Hours::of(&usage.deliveries)))
            (bars("by-state", "By state", "State", "Deliveries", &states(visit, &usage.deliveries)))
            (bars("by-endpoint", "By endpoint", "Endpoint", "Deliveries", &receivers(visit, &usage.deliveries, &endpoints)))
            (bars("times", "Attempt times", "An attempt took", "Attempts", &times(&usage)))
            p.hint { "Attempt times are those of all attempts of the last 24 hours." }
        }
    };
    visit.page("Usage", main)
}

fn states(visit: &Visit, counts: &[DeliveryCount]) -> Vec<Bar> {
    let sums = by_state(counts).into_iter();
    sums.map(|(state, count)| Bar {
        label: html! { a href=(visit.at(&format!("/deliveries?state={}", state.as_str()))) { (badge(state.as_str())) } },
        class: state.as_str(),
        count,
    })
    .collect()
}

fn receivers(visit: &Visit, counts: &[DeliveryCount], endpoints: &[Endpoint]) -> Vec<Bar> {
    let sums = by_endpoint(counts).into_iter();
    sums.map(|(id, count)| Bar {
        label: html! { a href=(visit.at(&format!("/webhooks/{id}"))) { (long(&url(id, endpoints))) } },
        class: "plain",
        count,
    })
    .collect()
}

fn times(usage: &Usage) -> Vec<Bar> {
    let counts = DURATIONS.iter().zip(usage.attempt_times);
    let bar = |(label, count): (&&str, u64)| Bar {
        label: html! { (label) },
        class: "plain",
        count,
    };
    counts.map(bar).collect()
}
