//! Usage: how the deliveries of the last day fare.

mod chart;
mod counts;

use std::time::Duration;

use maud::{Markup, html};

use super::answer::Outcome;
use super::deliveries::url;
use super::parts::{badge, empty, long};
use super::problem::Problem;
use super::visit::Visit;
use crate::store::Filter;
use crate::webhook::{Delivery, Endpoint};
use chart::{Bar, bars, columns};
use counts::{Hours, by_endpoint, by_state, durations};

/// What is looked at.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// So many of the day's deliveries are counted, the newest.
const COUNTED: u32 = 10_000;

/// Of so many of them the attempts are looked at, the newest.
const TIMED: usize = 100;

/// `GET /usage`
pub(super) async fn show(visit: &Visit) -> Outcome {
    let deliveries = of_the_day(visit).await?;
    let endpoints = visit.webhooks().endpoints.all().await?;
    let main = html! {
        p.lead { "The deliveries that were queued in the last 24 hours, and how they fare now." }
        @if deliveries.is_empty() {
            (empty("There were none.", html! {
                "Send a ping to one of the " a href=(visit.at("/webhooks")) { "endpoints" } " to see one here."
            }))
        } @else {
            (charts(visit, &deliveries, &endpoints).await?)
        }
    };
    visit.page("Usage", main)
}

async fn of_the_day(visit: &Visit) -> Result<Vec<Delivery>, Problem> {
    let filter = Filter {
        limit: COUNTED,
        ..Filter::default()
    };
    let mut newest = visit.webhooks().deliveries.list(&filter).await?;
    let since = visit.now.minus(DAY);
    newest.retain(|delivery| delivery.created_at > since);
    Ok(newest)
}

async fn charts(
    visit: &Visit,
    deliveries: &[Delivery],
    endpoints: &[Endpoint],
) -> Result<Markup, Problem> {
    let times = times(visit, deliveries).await?;
    Ok(html! {
        @if deliveries.len() == COUNTED as usize {
            p { "There were more: only the newest " (COUNTED) " are counted." }
        }
        (columns("by-hour", "By hour", &Hours::of(deliveries, visit.now)))
        (bars("by-state", "By state", "State", "Deliveries", &states(visit, deliveries)))
        (bars("by-endpoint", "By endpoint", "Endpoint", "Deliveries", &receivers(visit, deliveries, endpoints)))
        (bars("times", "Attempt times", "An attempt took", "Attempts", &times))
        p.hint { "Attempt times are those of the newest " (TIMED) " deliveries." }
    })
}

fn states(visit: &Visit, deliveries: &[Delivery]) -> Vec<Bar> {
    let counted = by_state(deliveries).into_iter();
    counted
        .map(|(state, count)| Bar {
            label: html! { a href=(visit.at(&format!("/deliveries?state={}", state.as_str()))) { (badge(state.as_str())) } },
            class: state.as_str(),
            count,
        })
        .collect()
}

fn receivers(visit: &Visit, deliveries: &[Delivery], endpoints: &[Endpoint]) -> Vec<Bar> {
    let counted = by_endpoint(deliveries).into_iter();
    counted
        .map(|(id, count)| Bar {
            label: html! { a href=(visit.at(&format!("/webhooks/{id}"))) { (long(&url(id, endpoints))) } },
            class: "plain",
            count,
        })
        .collect()
}

async fn times(visit: &Visit, deliveries: &[Delivery]) -> Result<Vec<Bar>, Problem> {
    let mut took = Vec::new();
    for delivery in deliveries.iter().take(TIMED) {
        let found = visit.webhooks().deliveries.find(&delivery.id).await?;
        let attempts = found.into_iter().flat_map(|(_, attempts)| attempts);
        took.extend(attempts.map(|attempt| attempt.duration_ms));
    }
    let counted = durations(&took).into_iter();
    Ok(counted
        .map(|(label, count)| Bar {
            label: html! { (label) },
            class: "plain",
            count,
        })
        .collect())
}
