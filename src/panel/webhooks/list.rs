//! The endpoints there are.

use std::collections::HashMap;

use maud::{Markup, html};

use super::wanted;
use crate::model::UserId;
use crate::panel::answer::Outcome;
use crate::panel::fields::Wrong;
use crate::panel::form::Form;
use crate::panel::parts::{badge, cell, empty, head, long};
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::webhook::Endpoint;

/// The page's title.
pub(super) const TITLE: &str = "Webhooks";

const COLUMNS: &[&str] = &["Endpoint", "Topics", "Owner", "Added", "State"];

/// `GET /webhooks`
pub(in crate::panel) async fn list(visit: &Visit) -> Outcome {
    let main = page(
        visit,
        &Form::parse("topics=*").unwrap_or_default(),
        &Wrong::default(),
    )
    .await?;
    visit.page(TITLE, main)
}

/// The endpoints, and the form that adds one, with what was typed into it.
pub(super) async fn page(visit: &Visit, typed: &Form, wrong: &Wrong) -> Result<Markup, Problem> {
    let endpoints = visit.webhooks().endpoints.all().await?;
    let names = visit
        .names(endpoints.iter().map(|endpoint| &endpoint.owner))
        .await?;
    Ok(html! {
        p.lead { "An endpoint is an address that the board tells what happens, signed with the endpoint's secret." }
        @if endpoints.is_empty() {
            (empty("There are no endpoints yet.", html! {
                "Add the address of a receiver below, and try it with a ping."
            }))
        } @else {
            table {
                (head(COLUMNS, false))
                tbody { @for endpoint in &endpoints { (row(visit, endpoint, &names)) } }
            }
        }
        (wanted::form(visit, typed, wrong)?)
    })
}

fn row(visit: &Visit, endpoint: &Endpoint, names: &HashMap<&UserId, String>) -> Markup {
    let owner = names.get(&endpoint.owner).map_or("", String::as_str);
    let path = visit.at(&format!("/webhooks/{}", endpoint.id));
    html! {
        tr {
            (cell("Endpoint", html! { a href=(path) { (long(&endpoint.url)) } }))
            (cell("Topics", html! { small { (endpoint.topics.to_string().replace(',', ", ")) } }))
            (cell("Owner", long(owner)))
            (cell("Added", visit.time(endpoint.created_at)))
            (cell("State", badge(state(endpoint))))
        }
    }
}

/// Whether anything is sent to it.
pub(super) fn state(endpoint: &Endpoint) -> &'static str {
    if endpoint.enabled {
        "enabled"
    } else {
        "disabled"
    }
}
