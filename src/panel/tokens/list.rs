//! The tokens there are, and revoking one.

use std::collections::HashMap;

use maud::{Markup, html};

use crate::model::{Timestamp, UserId};
use crate::panel::answer::Outcome;
use crate::panel::parts::{badge, cell, empty, further, head, long};
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::token::{Lookup, TokenRecord, TokenState};

/// Tokens per page.
const PAGE: usize = 50;

const COLUMNS: &[&str] = &[
    "Token",
    "Owner",
    "Scopes",
    "Created",
    "Expires",
    "Last used",
    "State",
];

/// `GET /tokens`
pub(in crate::panel) async fn list(visit: &Visit) -> Outcome {
    let limit = PAGE as u32 + 1;
    let after = after(visit.query.get("after"));
    let mut tokens = visit.core.tokens.list(after, limit).await?;
    let more = tokens.len() > PAGE;
    tokens.truncate(PAGE);
    let last = tokens.last().filter(|_| more);
    let names = visit.names(tokens.iter().map(|token| &token.owner)).await?;
    let main = html! {
        p.lead {
            "A token lets a program act for a member, no further than its scopes and never beyond what the member may do."
        }
        p { a.button href=(visit.at("/tokens/new")) { "Issue a token" } }
        @if tokens.is_empty() {
            (empty("There are no tokens yet.", html! {
                "Issue one for the member whose program is to use the API. It is shown once."
            }))
        } @else {
            (table(visit, &tokens, &names))
        }
        @if let Some(last) = last { (further("More tokens", &visit.at(&format!("/tokens?after={}", position(last))))) }
    };
    visit.page("API tokens", main)
}

/// The value of `after` for the tokens behind this one: its creation time in milliseconds, a dot and its lookup.
fn position(token: &TokenRecord) -> String {
    format!("{}.{}", token.created_at.as_millis(), token.lookup)
}

/// Parses a [`position`]; `None` for any other text, which means the first page.
fn after(text: &str) -> Option<(Timestamp, Lookup)> {
    let (created_at, lookup) = text.split_once('.')?;
    let created_at = Timestamp::from_millis(created_at.parse().ok()?);
    Some((created_at, Lookup::parse(lookup)?))
}

/// `POST /tokens/{id}/revoke`
pub(in crate::panel) async fn revoke(visit: &Visit) -> Outcome {
    let lookup = Lookup::parse(&visit.id).ok_or(Problem::Absent)?;
    if !visit.core.tokens.revoke(&lookup, visit.now).await? {
        return Err(Problem::Absent);
    }
    tracing::info!(%lookup, by = %visit.session.member, "a token was revoked");
    visit.done("/tokens", "revoked")
}

fn table(visit: &Visit, tokens: &[TokenRecord], names: &HashMap<&UserId, String>) -> Markup {
    html! {
        table {
            (head(COLUMNS, true))
            tbody { @for token in tokens { (row(visit, token, names.get(&token.owner))) } }
        }
    }
}

fn row(visit: &Visit, token: &TokenRecord, owner: Option<&String>) -> Markup {
    let state = token.state(visit.now);
    let label = Some(token.label.as_str()).filter(|label| !label.trim().is_empty());
    let lookup = token.lookup.as_str();
    let revoke = || {
        let path = format!("/tokens/{lookup}/revoke");
        visit.button(&path, "Revoke", label.unwrap_or(lookup), "danger")
    };
    html! {
        tr {
            (cell("Token", html! { strong { (long(label.unwrap_or("No label"))) } code { (lookup) } }))
            (cell("Owner", long(owner.map_or("", String::as_str))))
            (cell("Scopes", html! { small { (scopes(visit, token)) } }))
            (cell("Created", visit.time(token.created_at)))
            (cell("Expires", visit.time_or(token.expires_at, "never")))
            (cell("Last used", visit.time_or(token.last_used_at, "never")))
            (cell("State", badge(state.as_str())))
            td { @if state != TokenState::Revoked { (revoke()) } }
        }
    }
}

/// What it carries; one word for all that there is.
fn scopes(visit: &Visit, token: &TokenRecord) -> String {
    let surface = visit.core.environment.surface;
    let known = surface
        .scopes()
        .filter(|scope| token.scopes.iter().any(|one| one == scope.as_str()));
    match known.count() == surface.scopes().count() {
        true => "all".into(),
        false => token.scopes.join(", "),
    }
}
