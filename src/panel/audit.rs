//! Pages of the audit log.

use std::collections::{BTreeSet, HashMap};

use maud::{Markup, html};

use super::components::{
    TableRow, empty, one_line, parse_position, position, properties, table, utc_time,
};
use super::filter::ListFilter;
use super::page_context::PageContext;
use super::response::{PageResult, PanelError, PanelResult};
use super::tokens;
use crate::audit::{AuditAction, AuditEntry, AuditOrigin};
use crate::model::{AuditEntryId, UserId};
use crate::store::{AuditFilter, AuditRecord};
use crate::task::join_all;
use crate::token::Lookup;

/// Entries per page.
const PAGE_SIZE: usize = 50;

/// Names of the actors and targets of entries. A target without a name was removed, or belongs to the host.
struct Names<'a> {
    members: HashMap<&'a UserId, String>,
    targets: HashMap<String, String>,
}

/// `GET /audit`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let fields = ListFilter::new(context, "/audit", &["actor", "action", "target"]);
    let filter = parse_filter(context, &fields).await?;
    let mut records = match &filter {
        Ok(filter) => context.stores().audit.list(filter).await?,
        Err(_) => Vec::new(),
    };
    let more = records.len() > PAGE_SIZE;
    records.truncate(PAGE_SIZE);
    let last = records.last().filter(|_| more);
    let names = Names::load(context, &records).await?;
    let actions: Vec<_> = AuditAction::STANDARD.iter().map(AuditAction::as_str).collect();
    let controls = html! {
        (fields.text_field("actor", "Administrator", &[]))
        (fields.text_field("action", "Action", &actions))
        (fields.text_field("target", "Target", &[]))
    };
    let main = html! {
        p.lead { "Changes to tokens, webhooks and the board. The page of an entry has all its details." }
        (fields.form("Audit log", "", controls))
        @if records.is_empty() {
            (no_entries(&fields, filter.err()))
        } @else {
            (table(records.iter().map(|record| row(context, &names, record))))
        }
        @if let Some(last) = last {
            (fields.next_page("Older entries", &position(last.entry.occurred_at, &last.entry.id)))
        }
    };
    context.show("Audit", main)
}

/// Parses the filter. Returns the reason if no entry can match it.
async fn parse_filter(
    context: &PageContext,
    fields: &ListFilter<'_>,
) -> PanelResult<Result<AuditFilter, &'static str>> {
    let mut filter = AuditFilter {
        after: parse_position(context.query.get("after"), AuditEntryId::parse),
        limit: PAGE_SIZE as u32 + 1,
        target: Some(fields.get("target").to_owned()).filter(|target| !target.is_empty()),
        ..AuditFilter::default()
    };
    let username = fields.get("actor");
    let action = fields.get("action");
    if !username.is_empty() {
        filter.actor = context.panel.admin_auth.user_id_by_name(username).await?;
        if filter.actor.is_none() {
            return Ok(Err("No member has this username."));
        }
    }
    if !action.is_empty() {
        filter.action = AuditAction::parse(action).ok();
        if filter.action.is_none() {
            return Ok(Err("No action has this name."));
        }
    }
    Ok(Ok(filter))
}

fn no_entries(fields: &ListFilter<'_>, reason: Option<&str>) -> Markup {
    let no_matches = fields.no_matches(reason.unwrap_or("No entries match these filters."));
    no_matches.unwrap_or_else(|| {
        let text = "Each change in this panel and on the command line adds an entry.";
        empty("There are no entries yet.", html! { (text) })
    })
}

fn row(context: &PageContext, names: &Names<'_>, record: &AuditRecord) -> TableRow {
    let entry = &record.entry;
    let path = context.url(&format!("/audit/{}", entry.id));
    let time = utc_time(entry.occurred_at);
    vec![
        (
            "Time",
            html! { a href=(path) { time.exact datetime=(entry.occurred_at) title=(time) { (time) } } },
        ),
        ("Action", html! { code { (entry.action) } }),
        ("Target", names.target(context, record)),
        ("By", one_line(&names.actor(entry))),
        ("Details", one_line(&entry.details)),
    ]
}

/// `GET /audit/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let filter = AuditFilter {
        id: Some(AuditEntryId::parse(&context.id).map_err(|_| PanelError::NotFound)?),
        limit: 1,
        ..AuditFilter::default()
    };
    let records = context.stores().audit.list(&filter).await?;
    let record = records.first().ok_or(PanelError::NotFound)?;
    let names = Names::load(context, &records).await?;
    let entry = &record.entry;
    let address = entry.actor.address.map(|address| address.to_string());
    let main = properties([
        ("Time", context.time(entry.occurred_at)),
        ("Action", html! { code { (entry.action) } }),
        ("Target", names.target(context, record)),
        ("Target id", html! { code { (entry.target) } }),
        ("By", html! { (names.actor(entry)) }),
        (
            "From",
            html! { (origin(entry)) @if let Some(address) = address { " " code { (address) } } },
        ),
        ("Details", html! { ul.parts { @for part in parts(&entry.details) { li { (part) } } } }),
        ("Id", html! { code { (entry.id) } }),
    ]);
    context.show(entry.action.as_str(), main)
}

/// Splits details at each `; ` outside of a quoted text, such as a label. In a quoted text, a backslash escapes the next
/// character.
fn parts(details: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (position, letter) in details.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match letter {
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted && details[position..].starts_with("; ") => {
                parts.push(&details[start..position]);
                start = position + 2;
            }
            _ => {}
        }
    }
    parts.push(&details[start..]);
    parts
}

impl<'a> Names<'a> {
    async fn load(context: &PageContext, records: &'a [AuditRecord]) -> PanelResult<Self> {
        let entries = || records.iter().map(|record| &record.entry);
        let actors = entries().filter_map(|entry| entry.actor.user_id.as_ref());
        let members = context.names(actors).await?;
        let mut targets = HashMap::new();
        if let Some(webhooks) = context.webhook_stores() {
            for one in webhooks.endpoints.list().await? {
                targets.insert(one.id.to_string(), one.url);
            }
        }
        let lookups: BTreeSet<_> = entries()
            .filter(|entry| entry.action.as_str().starts_with("token."))
            .filter_map(|entry| Lookup::parse(&entry.target).ok())
            .collect();
        let tokens = lookups.iter().map(|lookup| context.stores().tokens.find(lookup));
        for token in join_all(tokens).await {
            if let Some(token) = token? {
                let label = tokens::label(&token).unwrap_or(tokens::NO_LABEL);
                targets.insert(token.lookup.to_string(), label.to_owned());
            }
        }
        Ok(Self { members, targets })
    }

    /// Renders the name of a target, with a link to its page. Removed targets have no page.
    fn target(&self, context: &PageContext, record: &AuditRecord) -> Markup {
        let entry = &record.entry;
        let name = self.targets.get(&entry.target);
        let section = match entry.target.as_str() {
            id if id.starts_with("dlv_") => context.has_webhooks().then_some("deliveries"),
            id if id.starts_with("whe_") => name.map(|_| "webhooks"),
            _ => name.map(|_| "tokens"),
        };
        let area = section.filter(|_| !entry.action.as_str().ends_with(".removed"));
        let text = one_line(name.unwrap_or(&entry.target));
        html! {
            @match area {
                Some(area) => a href=(context.url(&format!("/{area}/{}", entry.target))) { (text) },
                None => (text),
            }
            @if record.count > 1 { " " small { "× " (record.count) } }
        }
    }

    fn actor(&self, entry: &AuditEntry) -> String {
        let actor = &entry.actor;
        let name = actor.user_id.as_ref().and_then(|id| self.members.get(id));
        match (name, &actor.system_user) {
            (Some(name), Some(user)) => format!("{name}, {user}"),
            (Some(name), None) => name.clone(),
            (None, Some(user)) => format!("{user}, command line"),
            (None, None) if actor.origin == AuditOrigin::System => "the board".into(),
            (None, None) => "(unknown)".into(),
        }
    }
}

fn origin(entry: &AuditEntry) -> &'static str {
    match entry.actor.origin {
        AuditOrigin::Panel => "control panel",
        AuditOrigin::CommandLine => "command line",
        AuditOrigin::System => "automatic",
    }
}
