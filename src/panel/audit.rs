//! Page of the audit log.

use std::collections::HashMap;

use maud::{Markup, html};

use super::components::{
    TableRow, breakable, empty, filter_field, next_page_link, parse_position, position,
    query_string, table,
};
use super::page_context::PageContext;
use super::response::{PageResult, PanelError};
use crate::audit::{AuditAction, AuditEntry, AuditOrigin};
use crate::model::{AuditEntryId, DeliveryId, EndpointId, UserId};
use crate::store::{AuditFilter, AuditRecord};
use crate::token::Lookup;

/// Entries per page.
const PAGE_SIZE: usize = 50;

/// Longest details that are shown without folding, in characters.
const MAX_DETAILS_CHARS: usize = 120;

/// `GET /audit`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let mut records = match parse_filter(context).await? {
        Some(filter) => context.panel.stores.audit.list(&filter).await?,
        None => Vec::new(),
    };
    let more = records.len() > PAGE_SIZE;
    records.truncate(PAGE_SIZE);
    let last = records.last().filter(|_| more);
    let actors = records
        .iter()
        .filter_map(|record| record.entry.actor.user_id.as_ref());
    let names = context.names(actors).await?;
    let main = html! {
        p.lead { "Changes to tokens, webhooks and the board, with their time, actor and origin." }
        (filter_form(context))
        @if records.is_empty() {
            (no_entries(context))
        } @else {
            (table(records.iter().map(|record| row(context, record, &names))))
        }
        @if let Some(last) = last {
            (next_page_link("Older entries", &context.url(&next_page(context, last))))
        }
    };
    context.show("Audit log", main)
}

/// Returns the value of a field of the filter, without surrounding blanks.
fn field<'a>(context: &'a PageContext, name: &str) -> &'a str {
    context.query.get(name).trim()
}

/// Parses the filter of the query; `None` if no entry can match it, because of an unknown member or a malformed action.
async fn parse_filter(context: &PageContext) -> Result<Option<AuditFilter>, PanelError> {
    let mut filter = AuditFilter {
        after: parse_position(field(context, "before"), AuditEntryId::parse),
        limit: PAGE_SIZE as u32 + 1,
        ..AuditFilter::default()
    };
    let username = field(context, "actor");
    if !username.is_empty() {
        filter.actor = context.panel.admin_auth.user_id_by_name(username).await?;
        if filter.actor.is_none() {
            return Ok(None);
        }
    }
    let action = field(context, "action");
    if !action.is_empty() {
        filter.action = AuditAction::parse(action).ok();
        if filter.action.is_none() {
            return Ok(None);
        }
    }
    let target = Some(field(context, "target")).filter(|target| !target.is_empty());
    filter.target = target.map(str::to_owned);
    Ok(Some(filter))
}

fn filter_form(context: &PageContext) -> Markup {
    html! {
        form.filter method="get" action=(context.url("/audit")) role="search" aria-label="Audit log" {
            (filter_field("actor", "Administrator", field(context, "actor")))
            (action_field(field(context, "action")))
            (filter_field("target", "Target", field(context, "target")))
            button.quiet type="submit" { "Filter" }
        }
    }
}

/// Renders a field with the library's actions as suggestions. Hosts record other actions, too.
fn action_field(value: &str) -> Markup {
    html! {
        div {
            label for="action" { "Action" }
            input id="action" name="action" type="text" value=(value) list="actions" autocomplete="off" spellcheck="false";
            datalist id="actions" {
                @for action in AuditAction::STANDARD { option value=(action) {} }
            }
        }
    }
}

/// Returns the path of the page after this entry.
fn next_page(context: &PageContext, last: &AuditRecord) -> String {
    let fields = ["actor", "action", "target"].map(|name| (name, field(context, name)));
    let before = position(last.entry.occurred_at, &last.entry.id);
    let fields = fields.into_iter().chain([("before", before.as_str())]);
    format!("/audit?{}", query_string(fields))
}

fn no_entries(context: &PageContext) -> Markup {
    let is_filtered = ["actor", "action", "target", "before"]
        .into_iter()
        .any(|name| !field(context, name).is_empty());
    if is_filtered {
        let all = html! { a href=(context.url("/audit")) { "Show all entries" } "." };
        return empty("No entries match these filters.", all);
    }
    let text = "Each change in this panel and on the command line adds an entry.";
    empty("There are no entries yet.", html! { (text) })
}

fn row(context: &PageContext, record: &AuditRecord, names: &HashMap<&UserId, String>) -> TableRow {
    let entry = &record.entry;
    let count = Some(record.count).filter(|count| *count > 1);
    vec![
        ("Time", context.time(entry.occurred_at)),
        ("Action", html! { code { (entry.action) } }),
        (
            "Target",
            html! { (target(context, entry)) @if let Some(count) = count { " " small { "× " (count) } } },
        ),
        ("By", actor(record, names)),
        ("From", origin(record)),
        ("Details", details(&entry.details)),
    ]
}

/// Renders the details. Of long details only the beginning is visible until a click unfolds the rest.
fn details(text: &str) -> Markup {
    let rest = text.char_indices().nth(MAX_DETAILS_CHARS);
    let end = rest.map(|(end, _)| {
        let blank = text.get(..end).and_then(|start| start.rfind(' '));
        blank.unwrap_or(end)
    });
    match end.and_then(|end| text.split_at_checked(end)) {
        None => html! { small.details { (text) } },
        Some((start, rest)) => html! {
            details.details { summary { small { (start) " …" } } small { "…" (rest) } }
        },
    }
}

/// Renders the target, with a link to its page. Removed targets have no page.
fn target(context: &PageContext, entry: &AuditEntry) -> Markup {
    let target = html! { code { (breakable(&entry.target)) } };
    let action = entry.action.as_str();
    let area = match entry.target.as_str() {
        _ if action.ends_with(".removed") => None,
        id if id.starts_with("whe_") && EndpointId::parse(id).is_ok() => Some("webhooks"),
        id if id.starts_with("dlv_") && DeliveryId::parse(id).is_ok() => Some("deliveries"),
        id if action.starts_with("token.") && Lookup::parse(id).is_ok() => Some("tokens"),
        _ => None,
    };
    match area {
        Some(area) => {
            let path = context.url(&format!("/{area}/{}", entry.target));
            html! { a href=(path) { (target) } }
        }
        None => target,
    }
}

fn actor(record: &AuditRecord, names: &HashMap<&UserId, String>) -> Markup {
    let actor = &record.entry.actor;
    let name = actor.user_id.as_ref().and_then(|id| names.get(id));
    html! {
        @if let Some(name) = name { (breakable(name)) }
        @else if let Some(user) = &actor.system_user { small { "system user " } (breakable(user)) }
        @else if actor.origin == AuditOrigin::System { "the board" }
        @else { "(unknown)" }
    }
}

fn origin(record: &AuditRecord) -> Markup {
    let actor = &record.entry.actor;
    let origin = match actor.origin {
        AuditOrigin::Panel => "control panel",
        AuditOrigin::CommandLine => "command line",
        AuditOrigin::System => "automatic",
    };
    html! { (origin) @if let Some(address) = actor.address { " " small { (address) } } }
}
