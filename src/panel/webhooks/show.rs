//! One endpoint, and all that can be done to it.

use http::StatusCode;
use maud::{Markup, html};

use super::list::state;
use super::topics;
use crate::panel::answer::Outcome;
use crate::panel::deliveries;
use crate::panel::fields::Wrong;
use crate::panel::parts::badge;
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::store::Filter;
use crate::webhook::{Endpoint, Pending};

/// How many of its deliveries are shown with it.
const LATEST: u32 = 5;

/// `GET /webhooks/{id}`
pub(in crate::panel) async fn show(visit: &Visit) -> Outcome {
    page(visit, StatusCode::OK, &Wrong::default()).await
}

/// The endpoint, and what is wrong with the topics that were chosen for it.
pub(super) async fn page(visit: &Visit, status: StatusCode, wrong: &Wrong) -> Outcome {
    let endpoint = visit.webhooks().endpoints.find(&visit.endpoint()?).await?;
    let endpoint = endpoint.ok_or(Problem::Absent)?;
    let main = html! {
        (facts(visit, &endpoint).await?)
        (latest(visit, &endpoint).await?)
        (subscription(visit, &endpoint, wrong))
        (secret(visit, &endpoint)?)
        (removal(visit, &endpoint))
    };
    Ok(visit.answer(status, "Endpoint", main))
}

async fn facts(visit: &Visit, endpoint: &Endpoint) -> Result<Markup, Problem> {
    let names = visit.names(std::iter::once(&endpoint.owner)).await?;
    let owner = names.get(&endpoint.owner).map_or("", String::as_str);
    let turn = if endpoint.enabled {
        ("disable", "Disable")
    } else {
        ("enable", "Enable")
    };
    Ok(html! {
        dl {
            div { dt { "URL" } dd.whole tabindex="0" { (endpoint.url) } }
            div { dt { "State" } dd { (badge(state(endpoint))) } }
            div { dt { "Owner" } dd { (owner) } }
            div { dt { "Added" } dd { (visit.time(endpoint.created_at)) } }
            div { dt { "Id" } dd { code { (endpoint.id) } } }
        }
        div.actions {
            @if endpoint.enabled { (button(visit, endpoint, "ping", "Send a ping", "")) }
            (button(visit, endpoint, turn.0, turn.1, "quiet"))
        }
    })
}

async fn latest(visit: &Visit, endpoint: &Endpoint) -> Result<Markup, Problem> {
    let filter = Filter {
        endpoint: Some(endpoint.id.clone()),
        limit: LATEST,
        ..Filter::default()
    };
    let latest = visit.webhooks().deliveries.list(&filter).await?;
    let all = visit.at(&format!("/deliveries?endpoint={}", endpoint.id));
    Ok(html! {
        section aria-labelledby="latest" {
            h2 id="latest" { "Latest deliveries" }
            @if latest.is_empty() {
                p { "Nothing was sent to it yet." }
            } @else {
                (deliveries::table(visit, &latest, None))
                p { a href=(all) { "All its deliveries" } }
            }
        }
    })
}

fn subscription(visit: &Visit, endpoint: &Endpoint, wrong: &Wrong) -> Markup {
    let topics = &endpoint.topics;
    let is_checked = |topic: &str| match topic {
        "*" => topics.all,
        _ => topics.named.iter().any(|named| named.as_str() == topic),
    };
    html! {
        section aria-labelledby="subscription" {
            h2 id="subscription" { "What it is told of" }
            form.fields method="post" action=(visit.at(&format!("/webhooks/{}/topics", endpoint.id))) {
                (visit.csrf())
                (topics::field(visit, is_checked, wrong))
                div.actions { button type="submit" { "Save the topics" } }
            }
        }
    }
}

fn secret(visit: &Visit, endpoint: &Endpoint) -> Result<Markup, Problem> {
    let pending = endpoint
        .pending
        .as_ref()
        .filter(|pending| visit.now < pending.from);
    Ok(html! {
        section aria-labelledby="secret" {
            h2 id="secret" { "Secret" }
            (rotation(visit, pending))
            div.actions {
                @if pending.is_some() { (button(visit, endpoint, "activate", "Activate the new secret", "")) }
                form method="post" action=(visit.at(&format!("/webhooks/{}/rotate", endpoint.id))) {
                    (visit.csrf())
                    (visit.once()?)
                    button.quiet type="submit" { "Make a new secret" }
                }
            }
        }
    })
}

fn rotation(visit: &Visit, pending: Option<&Pending>) -> Markup {
    match pending {
        Some(pending) => html! {
            p {
                "A new secret is pending. Deliveries are still signed with the old one until you activate it; by \
                 itself it comes into force "
                (visit.time(pending.from)) "."
            }
        },
        None => html! {
            p {
                "A new secret is shown once and pends, so that you can give it to the receiver before you activate it; \
                 after 24 hours it comes into force by itself."
            }
        },
    }
}

/// What cannot be undone takes two steps.
fn removal(visit: &Visit, endpoint: &Endpoint) -> Markup {
    html! {
        section aria-labelledby="removal" {
            h2 id="removal" { "Remove" }
            details {
                summary { "Remove this endpoint…" }
                p { "Its deliveries go with it, those that still wait too. To stop for a while, disable it instead." }
                (button(visit, endpoint, "remove", "Remove it with its deliveries", "danger"))
            }
        }
    }
}

fn button(visit: &Visit, endpoint: &Endpoint, verb: &str, text: &str, class: &str) -> Markup {
    visit.button(
        &format!("/webhooks/{}/{verb}", endpoint.id),
        text,
        "",
        class,
    )
}
