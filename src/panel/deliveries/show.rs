//! One delivery with its attempts, and sending it again.

use maud::{Markup, html};

use crate::model::DeliveryId;
use crate::panel::answer::Outcome;
use crate::panel::parts::{badge, cell, head, long};
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::webhook::{Attempted, Delivery, State};

const COLUMNS: &[&str] = &["Attempt", "Began", "Status", "Took", "What came of it"];

/// `GET /deliveries/{id}`
pub(in crate::panel) async fn show(visit: &Visit) -> Outcome {
    let (delivery, attempts) = find(visit).await?;
    let endpoint = visit.webhooks().endpoints.find(&delivery.endpoint).await?;
    let endpoints: Vec<_> = endpoint.into_iter().collect();
    let url = super::list::url(&delivery.endpoint, &endpoints);
    let main = html! {
        (facts(visit, &delivery, &url))
        div.actions { (buttons(visit, &delivery)) }
        section aria-labelledby="attempts" {
            h2 id="attempts" { "Attempts" }
            @if attempts.is_empty() { p { "There was none yet." } } @else { (table(visit, &attempts)) }
        }
    };
    visit.page("Delivery", main)
}

/// `POST /deliveries/{id}/retry`
pub(in crate::panel) async fn retry(visit: &Visit) -> Outcome {
    let id = id(visit)?;
    if visit.webhooks().deliveries.retry(&id, visit.now).await? {
        return visit.done(&format!("/deliveries/{id}"), "retried");
    }
    let (delivery, _) = find(visit).await?;
    let state = delivery.progress.state.as_str();
    let reason =
        format!("The delivery is {state} by now: it waits for an attempt, or one is under way.");
    visit.conflict(&reason, &format!("/deliveries/{id}"))
}

/// `POST /deliveries/{id}/remove`
pub(in crate::panel) async fn remove(visit: &Visit) -> Outcome {
    let id = id(visit)?;
    if !visit.webhooks().deliveries.remove(&id).await? {
        return Err(Problem::Absent);
    }
    tracing::info!(delivery = %id, by = %visit.session.member, "a delivery was removed");
    visit.done("/deliveries", "delivery-removed")
}

fn id(visit: &Visit) -> Result<DeliveryId, Problem> {
    DeliveryId::new(&visit.id).ok_or(Problem::Absent)
}

async fn find(visit: &Visit) -> Result<(Delivery, Vec<Attempted>), Problem> {
    let found = visit.webhooks().deliveries.find(&id(visit)?).await?;
    found.ok_or(Problem::Absent)
}

fn facts(visit: &Visit, delivery: &Delivery, url: &str) -> Markup {
    let path = visit.at(&format!("/webhooks/{}", delivery.endpoint));
    let progress = &delivery.progress;
    html! {
        dl {
            div { dt { "State" } dd { (badge(progress.state.as_str())) } }
            div { dt { "Topic" } dd { (delivery.topic) } }
            div { dt { "Endpoint" } dd { a href=(path) { (long(url)) } } }
            div { dt { "Queued" } dd { (visit.time(delivery.created_at)) } }
            div { dt { "Next attempt" } dd { (visit.time_or(progress.due_at, "none")) } }
            div { dt { "Id" } dd { code { (delivery.id) } } }
            div { dt { "Event" } dd { code { (delivery.event) } } }
        }
    }
}

fn buttons(visit: &Visit, delivery: &Delivery) -> Markup {
    let path = |verb| format!("/deliveries/{}/{verb}", delivery.id);
    let is_queued = delivery.progress.state == State::Queued;
    html! {
        @if !is_queued { (visit.button(&path("retry"), "Retry", "this delivery", "")) }
        (visit.button(&path("remove"), "Remove", "this delivery", "danger"))
    }
}

fn table(visit: &Visit, attempts: &[Attempted]) -> Markup {
    html! {
        table {
            (head(COLUMNS, false))
            tbody { @for attempt in attempts { (row(visit, attempt)) } }
        }
    }
}

fn row(visit: &Visit, attempt: &Attempted) -> Markup {
    let status = attempt
        .status
        .map_or_else(|| "none".into(), |status| status.to_string());
    html! {
        tr {
            (cell("Attempt", html! { (attempt.attempt) }))
            (cell("Began", visit.time(attempt.at)))
            (cell("Status", html! { (status) }))
            (cell("Took", html! { (attempt.duration_ms) "\u{a0}ms" }))
            (cell("What came of it", came(attempt)))
        }
    }
}

/// What went wrong, and what the receiver said.
fn came(attempt: &Attempted) -> Markup {
    let answer = attempt
        .answer
        .as_deref()
        .filter(|answer| !answer.is_empty());
    html! {
        @if let Some(error) = &attempt.error { p { (error) } }
        @match answer {
            Some(answer) => pre tabindex="0" { (answer) },
            None if attempt.error.is_none() => "an empty answer",
            None => {}
        }
    }
}
