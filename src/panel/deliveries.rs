//! Pages and actions of deliveries.

use maud::{Markup, html};

use super::components::{TableRow, badge, breakable, choice, empty, next_page_link, table};
use super::form::Form;
use super::page_context::PageContext;
use super::response::{PageResult, PanelError};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::{DeliveryFilter, Quarantine};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Endpoint, Topic};

/// Deliveries per page.
const PAGE_SIZE: u32 = 50;

/// Number of characters of a URL in an option of the filter.
const MAX_OPTION_LEN: usize = 60;

/// `GET /deliveries`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let filter = parse_filter(&context.query);
    let endpoints = context.webhooks().endpoints.list().await?;
    let mut deliveries = context.webhooks().deliveries.list(&filter).await?;
    let more = deliveries.len() > PAGE_SIZE as usize;
    deliveries.truncate(PAGE_SIZE as usize);
    let last = deliveries.last().filter(|_| more);
    let rows = deliveries
        .iter()
        .map(|delivery| row(context, delivery, &endpoints, true));
    let main = html! {
        p.lead { "Webhook deliveries and their states. After six failed attempts a delivery is dead, and is sent again only if you redeliver it." }
        (quarantine_warning(context).await?)
        (filter_form(context, &filter, &endpoints))
        @if let Some(endpoint) = &filter.endpoint_id { (retry_dead(context, endpoint, &endpoints)) }
        @if deliveries.is_empty() {
            (no_deliveries(context, &filter, &endpoints))
        } @else {
            (table(rows))
        }
        @if let Some(last) = last {
            (next_page_link("Older deliveries", &context.url(&next_page(&filter, last))))
        }
    };
    context.show("Deliveries", main)
}

/// Parses the filter of a query. Ignores invalid values.
fn parse_filter(query: &Form) -> DeliveryFilter {
    DeliveryFilter {
        state: DeliveryState::parse(query.get("state")).ok(),
        endpoint_id: EndpointId::parse(query.get("endpoint")).ok(),
        topic: Topic::parse(query.get("topic")).ok(),
        after: parse_position(query.get("after")),
        limit: PAGE_SIZE + 1,
    }
}

/// Parses `<milliseconds>.<id>`.
fn parse_position(text: &str) -> Option<(Timestamp, DeliveryId)> {
    let (millis, id) = text.split_once('.')?;
    Some((
        Timestamp::from_millis(millis.parse().ok()?),
        DeliveryId::parse(id).ok()?,
    ))
}

/// Returns the path of the page after this delivery. Its values need no escaping.
fn next_page(filter: &DeliveryFilter, last: &Delivery) -> String {
    let [state, endpoint, topic] = filter_texts(filter);
    let (millis, id) = (last.created_at.as_millis(), &last.id);
    format!("/deliveries?state={state}&endpoint={endpoint}&topic={topic}&after={millis}.{id}")
}

/// Returns state, endpoint and topic of a filter, empty if not set.
fn filter_texts(filter: &DeliveryFilter) -> [String; 3] {
    [
        filter.state.map_or("", DeliveryState::as_str).into(),
        filter
            .endpoint_id
            .as_ref()
            .map(EndpointId::to_string)
            .unwrap_or_default(),
        filter
            .topic
            .as_ref()
            .map(Topic::to_string)
            .unwrap_or_default(),
    ]
}

fn filter_form(context: &PageContext, filter: &DeliveryFilter, endpoints: &[Endpoint]) -> Markup {
    let [state, endpoint, topic] = filter_texts(filter);
    let states = DeliveryState::ALL.iter();
    let states = states.map(|state| (state.as_str().into(), state.as_str().into()));
    let endpoints = endpoints.iter();
    let endpoints = endpoints.map(|one| (one.id.to_string(), shortened(&one.url)));
    let topics = context
        .panel
        .webhook_admin
        .known_topics()
        .chain([Topic::PING]);
    let topics = topics.map(|topic| (topic.to_string(), topic.to_string()));
    html! {
        form.filter method="get" action=(context.url("/deliveries")) role="search" aria-label="Deliveries" {
            (choice("state", "State", "Any state", states.into_iter(), &state))
            (choice("endpoint", "Endpoint", "Any endpoint", endpoints, &endpoint))
            (choice("topic", "Topic", "Any topic", topics, &topic))
            button.quiet type="submit" { "Filter" }
        }
    }
}

fn shortened(url: &str) -> String {
    match url.char_indices().nth(MAX_OPTION_LEN) {
        Some((end, _)) => format!("{}…", url.get(..end).unwrap_or_default()),
        None => url.into(),
    }
}

/// Renders a warning about unreadable events, if there are any.
pub(super) async fn quarantine_warning(context: &PageContext) -> Result<Markup, PanelError> {
    let quarantine = context.webhooks().outbox.quarantined(1).await?;
    let is_capped = quarantine.count >= Quarantine::MAX_COUNT;
    let events = if quarantine.count == 1 {
        "event"
    } else {
        "events"
    };
    Ok(html! {
        @if let Some(latest) = quarantine.latest.first() {
            p.quarantine {
                @if is_capped { "At least " }
                (quarantine.count) " " (events) " cannot be read and will not be delivered. Latest: "
                code { (breakable(&latest.id)) } ": " (latest.reason) "."
            }
        }
    })
}

fn no_deliveries(context: &PageContext, filter: &DeliveryFilter, endpoints: &[Endpoint]) -> Markup {
    let is_filtered =
        filter.state.is_some() || filter.endpoint_id.is_some() || filter.topic.is_some();
    if endpoints.is_empty() {
        let add =
            html! { a href=(context.url("/webhooks")) { "Add an endpoint" } " to receive events." };
        return empty("There are no deliveries yet.", add);
    }
    if is_filtered {
        let all = html! { a href=(context.url("/deliveries")) { "Show all deliveries" } "." };
        return empty("No deliveries match these filters.", all);
    }
    let ping = html! { "Send a ping to one of the " a href=(context.url("/webhooks")) { "endpoints" } " to create a delivery." };
    empty("There are no deliveries yet.", ping)
}

/// Renders the button that redelivers all dead deliveries of an existing endpoint.
fn retry_dead(context: &PageContext, id: &EndpointId, endpoints: &[Endpoint]) -> Markup {
    let exists = endpoints.iter().any(|endpoint| endpoint.id == *id);
    let path = format!("/webhooks/{id}/retry-dead");
    html! {
        @if exists {
            div.actions { (context.button(&path, "Redeliver all failed", "", "quiet")) }
        }
    }
}

/// Returns a row of a table of deliveries. `endpoints` contains the endpoint of the delivery, unless it was removed.
pub(super) fn row(
    context: &PageContext,
    delivery: &Delivery,
    endpoints: &[Endpoint],
    with_endpoint: bool,
) -> TableRow {
    let progress = &delivery.progress;
    let endpoint = endpoints.iter().find(|one| one.id == delivery.endpoint_id);
    let path = context.url(&format!("/deliveries/{}", delivery.id));
    let id = breakable(&delivery.id.to_string());
    let mut row = vec![
        ("Delivery", html! { a href=(path) { code { (id) } } }),
        ("Topic", html! { (delivery.topic) }),
    ];
    if with_endpoint {
        row.push((
            "Endpoint",
            breakable(&url(&delivery.endpoint_id, endpoints)),
        ));
    }
    row.extend([
        ("State", badge(progress.state.as_str())),
        ("Attempts", html! { (progress.attempts) }),
        ("Queued", context.time(delivery.created_at)),
        ("Next attempt", next_attempt(context, delivery, endpoint)),
    ]);
    row
}

/// Returns the time of the next attempt. Deliveries of a disabled endpoint wait until it is enabled.
fn next_attempt(context: &PageContext, delivery: &Delivery, endpoint: Option<&Endpoint>) -> Markup {
    match delivery.progress.due_at {
        Some(_) if endpoint.is_some_and(|endpoint| !endpoint.enabled) => {
            html! { "paused (endpoint disabled)" }
        }
        due_at => context.optional_time(due_at, "none"),
    }
}

/// Returns the URL of an endpoint; its id if the endpoint was removed.
pub(super) fn url(id: &EndpointId, endpoints: &[Endpoint]) -> String {
    let endpoint = endpoints.iter().find(|endpoint| endpoint.id == *id);
    endpoint.map_or_else(|| id.to_string(), |endpoint| endpoint.url.clone())
}

/// `GET /deliveries/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let (delivery, attempts) = find(context).await?;
    let endpoints = &context.webhooks().endpoints;
    let endpoint = endpoints.find(&delivery.endpoint_id).await?;
    let next = next_attempt(context, &delivery, endpoint.as_ref());
    let url = endpoint.map_or_else(|| delivery.endpoint_id.to_string(), |endpoint| endpoint.url);
    let endpoint_path = context.url(&format!("/webhooks/{}", delivery.endpoint_id));
    let (id, progress) = (&delivery.id, &delivery.progress);
    let retry = format!("/deliveries/{id}/retry");
    let remove = format!("/deliveries/{id}/remove");
    let main = html! {
        dl {
            div { dt { "State" } dd { (badge(progress.state.as_str())) } }
            div { dt { "Topic" } dd { (delivery.topic) } }
            div { dt { "Endpoint" } dd { a href=(endpoint_path) { (breakable(&url)) } } }
            div { dt { "Queued" } dd { (context.time(delivery.created_at)) } }
            div { dt { "Next attempt" } dd { (next) } }
            div { dt { "Id" } dd { code { (id) } } }
            div { dt { "Event" } dd { code { (delivery.event_id) } } }
        }
        div.actions {
            @if progress.state != DeliveryState::Queued { (context.button(&retry, "Redeliver", "this delivery", "")) }
            (context.button(&remove, "Remove", "this delivery", "danger"))
        }
        section aria-labelledby="attempts" {
            h2 id="attempts" { "Attempts" }
            @if attempts.is_empty() {
                p { "No attempts yet." }
            } @else {
                (table(attempts.iter().map(|attempt| attempt_row(context, attempt))))
            }
        }
    };
    context.show("Delivery", main)
}

fn attempt_row(context: &PageContext, attempt: &AttemptRecord) -> TableRow {
    let status = attempt.status.map(|status| status.to_string());
    vec![
        ("Attempt", html! { (attempt.attempt) }),
        ("Began", context.time(attempt.started_at)),
        ("Status", html! { (status.as_deref().unwrap_or("none")) }),
        ("Took", html! { (attempt.duration_ms) "\u{a0}ms" }),
        ("Result", result_cell(attempt)),
    ]
}

fn result_cell(attempt: &AttemptRecord) -> Markup {
    let response = attempt.response_excerpt.as_deref();
    html! {
        @if let Some(error) = &attempt.error { p { (error) } }
        @match response.filter(|response| !response.is_empty()) {
            Some(response) => pre tabindex="0" { (response) },
            None if attempt.error.is_none() => "empty response",
            None => {}
        }
    }
}

/// `POST /deliveries/{id}/retry`
pub(super) async fn retry(context: &PageContext) -> PageResult {
    let id = parse_id(context)?;
    let path = format!("/deliveries/{id}");
    let admin = &context.panel.webhook_admin;
    if admin.redeliver(&id, &context.actor).await? {
        return context.redirect_with_flash(&path, "retried");
    }
    let (delivery, _) = find(context).await?;
    let state = delivery.progress.state.as_str();
    let reason = format!(
        "The delivery is {state}: it waits to be sent or is being sent. Deliveries to a disabled endpoint wait until you \
         enable it."
    );
    context.conflict(&reason, &path)
}

/// `POST /deliveries/{id}/remove`
pub(super) async fn remove(context: &PageContext) -> PageResult {
    let id = parse_id(context)?;
    let admin = &context.panel.webhook_admin;
    if !admin.remove_delivery(&id, &context.actor).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(delivery = %id, admin = %context.session.user_id, "delivery removed");
    context.redirect_with_flash("/deliveries", "delivery-removed")
}

fn parse_id(context: &PageContext) -> Result<DeliveryId, PanelError> {
    DeliveryId::parse(&context.id).map_err(|_| PanelError::NotFound)
}

async fn find(context: &PageContext) -> Result<(Delivery, Vec<AttemptRecord>), PanelError> {
    let deliveries = &context.webhooks().deliveries;
    let delivery = deliveries.find(&parse_id(context)?).await?;
    delivery.ok_or(PanelError::NotFound)
}
