//! The deliveries there are.

use maud::{Markup, html};

use super::filter;
use crate::model::EndpointId;
use crate::panel::answer::Outcome;
use crate::panel::parts::{badge, cell, empty, further, head, long};
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::store::{Filter, Quarantine};
use crate::webhook::{Delivery, Endpoint};

/// How many deliveries stand on a page.
const PAGE: u32 = 50;

const ENDPOINT: &str = "Endpoint";

const COLUMNS: &[&str] = &[
    "Delivery",
    "Topic",
    ENDPOINT,
    "State",
    "Attempts",
    "Queued",
    "Next attempt",
];

/// `GET /deliveries`
pub(in crate::panel) async fn list(visit: &Visit) -> Outcome {
    let filter = filter::asked(&visit.query, PAGE + 1);
    let endpoints = visit.webhooks().endpoints.all().await?;
    let mut deliveries = visit.webhooks().deliveries.list(&filter).await?;
    let more = deliveries.len() > PAGE as usize;
    deliveries.truncate(PAGE as usize);
    let last = deliveries.last().filter(|_| more);
    let main = html! {
        p.lead { "What was told, or is still to be told, to whom. After six failed attempts a delivery is dead until \
                  you retry it." }
        (quarantine(visit).await?)
        (filter::form(visit, &filter, &endpoints))
        @if let Some(endpoint) = &filter.endpoint { (retry_dead(visit, endpoint, &endpoints)) }
        @if deliveries.is_empty() {
            (nothing(visit, &filter, endpoints.is_empty()))
        } @else {
            (table(visit, &deliveries, Some(&endpoints)))
        }
        @if let Some(last) = last { (further("Older deliveries", &visit.at(&filter::after(&filter, last)))) }
    };
    visit.page("Deliveries", main)
}

/// One line about the events that cannot be read; nothing when there are none.
pub(in crate::panel) async fn quarantine(visit: &Visit) -> Result<Markup, Problem> {
    let quarantine = visit.webhooks().outbox.quarantined(1).await?;
    let at_least = if quarantine.count >= Quarantine::MAX_COUNT {
        "At least "
    } else {
        ""
    };
    let events = if quarantine.count == 1 {
        "event"
    } else {
        "events"
    };
    Ok(html! {
        @if let Some(latest) = quarantine.latest.first() {
            p.quarantine {
                (at_least) (quarantine.count) " " (events) " cannot be read and will not be delivered. The latest is "
                code { (long(&latest.id)) } ": " (latest.reason) "."
            }
        }
    })
}

fn nothing(visit: &Visit, filter: &Filter, no_endpoints: bool) -> Markup {
    let is_filtered = filter.state.is_some() || filter.endpoint.is_some() || filter.topic.is_some();
    if no_endpoints {
        let add = html! { a href=(visit.at("/webhooks")) { "Add an endpoint" } " to have the board tell it things." };
        return empty("There are no deliveries yet.", add);
    }
    if is_filtered {
        let all = html! { a href=(visit.at("/deliveries")) { "Show all deliveries" } "." };
        return empty("No delivery is like this.", all);
    }
    let ping = html! { "Send a ping to one of the " a href=(visit.at("/webhooks")) { "endpoints" } " to see one." };
    empty("There are no deliveries yet.", ping)
}

/// Of an endpoint that is there, all dead ones can be sent again.
fn retry_dead(visit: &Visit, id: &EndpointId, endpoints: &[Endpoint]) -> Markup {
    let is_there = endpoints.iter().any(|endpoint| endpoint.id == *id);
    let path = format!("/webhooks/{id}/retry-dead");
    html! {
        @if is_there {
            div.actions { (visit.button(&path, "Retry all dead deliveries of this endpoint", "", "quiet")) }
        }
    }
}

/// Deliveries to any of these endpoints, or all to one that the page is about.
pub(in crate::panel) fn table(
    visit: &Visit,
    deliveries: &[Delivery],
    endpoints: Option<&[Endpoint]>,
) -> Markup {
    let shown = |column: &&str| endpoints.is_some() || *column != ENDPOINT;
    let columns: Vec<_> = COLUMNS.iter().copied().filter(shown).collect();
    html! {
        table {
            (head(&columns, false))
            tbody { @for delivery in deliveries { (row(visit, delivery, endpoints)) } }
        }
    }
}

fn row(visit: &Visit, delivery: &Delivery, endpoints: Option<&[Endpoint]>) -> Markup {
    let progress = &delivery.progress;
    let path = visit.at(&format!("/deliveries/{}", delivery.id));
    html! {
        tr {
            (cell("Delivery", html! { a href=(path) { code { (long(&delivery.id.to_string())) } } }))
            (cell("Topic", html! { (delivery.topic) }))
            @if let Some(endpoints) = endpoints { (cell(ENDPOINT, long(&url(&delivery.endpoint, endpoints)))) }
            (cell("State", badge(progress.state.as_str())))
            (cell("Attempts", html! { (progress.attempts) }))
            (cell("Queued", visit.time(delivery.created_at)))
            (cell("Next attempt", visit.time_or(progress.due_at, "none")))
        }
    }
}

/// Where it goes, as far as the endpoint is there.
pub(in crate::panel) fn url(id: &EndpointId, endpoints: &[Endpoint]) -> String {
    let found = endpoints.iter().find(|endpoint| endpoint.id == *id);
    found.map_or_else(|| id.to_string(), |endpoint| endpoint.url.clone())
}
