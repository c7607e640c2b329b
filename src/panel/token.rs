//! Page of one API token: properties, label, usage and revocation.

use http::StatusCode;
use maud::{Markup, html};

use super::api_usage::{hour_label, requests_chart, usage_row};
use super::components::{self, TableRow, badge, empty, number_table, utc_time};
use super::form::{Form, TextField};
use super::intervals::{Interval, first_interval, intervals, total};
use super::page_context::PageContext;
use super::response::{PageResult, PanelError, PanelResult};
use super::tokens::{self, LIKE, NO_LABEL, known_scopes, label, page_path};
use crate::audit::AuditAction;
use crate::model::{DAY, HOUR, Timestamp};
use crate::store::UsageCounts;
use crate::token::{self, Lookup, TokenRecord, TokenState};

const LABEL: TextField = TextField::text(
    "label",
    "Label",
    "A name for this token, for example the application that uses it.",
);

const EFFECT: &str = "Requests with a revoked token return 401. This cannot be undone.";

/// Hours of the chart by hour.
const HOURS: u32 = 24;

/// Days of the chart by day. The store keeps the hours of 30 days.
const DAYS: u32 = 30;

/// `GET /tokens/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let token = find(context).await?;
    let form = Form::with_values("label", [token.label.clone()].into_iter());
    let page = page(context, &token, &form).await?;
    context.show(label(&token).unwrap_or(NO_LABEL), page)
}

/// Returns the token whose lookup is in the path.
async fn find(context: &PageContext) -> PanelResult<TokenRecord> {
    let lookup = Lookup::parse(&context.id).map_err(|_| PanelError::NotFound)?;
    let token = context.stores().tokens.find(&lookup).await?;
    token.ok_or(PanelError::NotFound)
}

async fn page(context: &PageContext, token: &TokenRecord, form: &Form) -> PanelResult<Markup> {
    let path = page_path(token);
    let is_revoked = token.state(context.now) == TokenState::Revoked;
    let owner = context.name(&token.owner).await?;
    Ok(html! {
        (properties(context, token, &owner))
        p { a href=(context.url(&format!("/tokens/new?{LIKE}={}", token.lookup))) { "Issue again with the same scopes" } }
        (usage(context, token).await?)
        section aria-labelledby="change" {
            h2 id="change" { "Rename" }
            form.fields method="post" action=(context.url(&path)) {
                (context.csrf())
                (LABEL.render(form))
                div.actions { button.quiet type="submit" { "Save changes" } }
            }
        }
        @if !is_revoked {
            section aria-labelledby="danger" {
                h2 id="danger" { "Revocation" }
                p { (EFFECT) }
                div.actions {
                    a.button.danger href=(context.url(&format!("{path}/revoke"))) { "Revoke" }
                }
            }
        }
    })
}

/// Renders the properties of a token, except its label.
pub(super) fn properties(context: &PageContext, token: &TokenRecord, owner: &str) -> Markup {
    let time = |at: Option<Timestamp>| at.map_or_else(|| html! { "never" }, |at| context.time(at));
    let scopes = known_scopes(context, token);
    let rows = [
        (
            "State",
            html! { (badge(token.state(context.now).as_str())) @if let Some(at) = token.revoked_at { " " (context.time(at)) } },
        ),
        ("Owner", context.member(&token.owner, owner)),
        (
            "Scopes",
            html! { @for (index, scope) in scopes.iter().enumerate() { @if index > 0 { ", " } code { (scope) } } },
        ),
        ("Created", context.time(token.created_at)),
        ("Expires", time(token.expires_at)),
        ("Last used", time(token.last_used_at)),
        (
            "Lookup",
            html! { code { (token.lookup) } " " small { "public part of the token, after " code { "forum_pat_" } } },
        ),
    ];
    components::properties(rows)
}

/// `POST /tokens/{id}`
pub(super) async fn save(context: &PageContext, mut form: Form) -> PageResult {
    let token = find(context).await?;
    let text = form.get("label").to_owned();
    let label = match token::parse_label(&text) {
        Ok(label) => label,
        Err(error) => {
            form.add_error("label", error);
            let main = html! {
                p.alert role="alert" { "The label was not changed. Correct the field marked below." }
                (page(context, &token, &form).await?)
            };
            let title = tokens::label(&token).unwrap_or(NO_LABEL);
            return Ok(context.render(StatusCode::UNPROCESSABLE_ENTITY, title, main));
        }
    };
    let audit = context
        .audit_entry(AuditAction::TOKEN_UPDATED, token.lookup)?
        .with_details(format_args!("label {label:?}"));
    let store = &context.stores().tokens;
    if !store.set_label(&token.lookup, label, &audit).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(lookup = %token.lookup, admin = %context.session.user_id, "token updated");
    context.redirect_with_flash(&page_path(&token), "saved")
}

/// `GET /tokens/{id}/revoke`
pub(super) async fn confirm_revocation(context: &PageContext) -> PageResult {
    let token = find(context).await?;
    let path = page_path(&token);
    if token.state(context.now) == TokenState::Revoked {
        return context.redirect(&path);
    }
    let owner = context.name(&token.owner).await?;
    let main = html! {
        p { (EFFECT) }
        (properties(context, &token, &owner))
        form method="post" action=(context.url(&format!("{path}/revoke"))) {
            (context.csrf())
            div.actions {
                button.danger.primary type="submit" { "Revoke" }
                a href=(context.url(&path)) { "Cancel" }
            }
        }
    };
    let title = format!("Revoke {}?", label(&token).unwrap_or(NO_LABEL));
    context.show(&title, main)
}

/// `POST /tokens/{id}/revoke`
pub(super) async fn revoke(context: &PageContext) -> PageResult {
    let lookup = Lookup::parse(&context.id).map_err(|_| PanelError::NotFound)?;
    let store = &context.stores().tokens;
    let audit = context.audit_entry(AuditAction::TOKEN_REVOKED, lookup)?;
    if !store.revoke(&lookup, context.now, &audit).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(%lookup, admin = %context.session.user_id, "token revoked");
    context.redirect_with_flash("/tokens", "revoked")
}

/// Renders the requests of the last hours and days.
async fn usage(context: &PageContext, token: &TokenRecord) -> PanelResult<Markup> {
    let now = context.now;
    let store = &context.stores().usage;
    let since = first_interval(now, DAY, DAYS);
    let stored = store.token_usage_by_hour(since, Some(&token.lookup)).await?;
    if stored.is_empty() {
        let next = html! { "New requests appear here within a minute." };
        return Ok(html! {
            section aria-labelledby="by-day" {
                h2 id="by-day" { "Requests" }
                (empty("No requests in the last 30 days.", next))
            }
        });
    }
    let hours = intervals(stored.iter().copied(), now, HOUR, HOURS);
    let days = intervals(stored.into_iter(), now, DAY, DAYS);
    let date = |day: Timestamp| {
        let text: String = utc_time(day).chars().take(10).collect();
        html! { time datetime=(day) { (text) } }
    };
    Ok(html! {
        section aria-labelledby="by-hour" {
            h2 id="by-hour" { "Requests of the last 24 hours" }
            (requests_chart(&hours, ",", "busiest hour", [html! { "24 hours ago" }, html! { "now" }]))
            (data("Request counts by hour", "Hour", &hours, hour_label))
        }
        section aria-labelledby="by-day" {
            h2 id="by-day" { "Requests of the last 30 days" }
            (requests_chart(&days, ",", "busiest day", [html! { "30 days ago" }, html! { "today" }]))
            (data("Request counts by day", "Day (UTC)", &days, date))
        }
    })
}

/// Renders the intervals with requests, newest first, and their sum as a table.
fn data(
    title: &str,
    column: &'static str,
    intervals: &[Interval<UsageCounts>],
    label: impl Fn(Timestamp) -> Markup,
) -> Markup {
    let latest_first = intervals.iter().rev();
    let used = latest_first.filter(|(_, counts)| *counts != UsageCounts::default());
    let rows = used.map(|(at, counts)| usage_row(column, label(*at), counts));
    let sum: TableRow = usage_row(column, html! { strong { "Total" } }, &total(intervals));
    html! {
        details.data {
            summary { (title) }
            (number_table(rows.chain([sum])))
        }
    }
}
