//! Pages and actions of deliveries.

use std::ops::Range;
use std::time::Duration;

use maud::{Markup, html};

use super::components::{
    TableRow, badge, breakable, danger_section, empty, one_line, parse_position, plural, position,
    properties, table,
};
use super::filter::ListFilter;
use super::form::Form;
use super::page_context::PageContext;
use super::pretty_json::pretty_json;
use super::response::{PageResult, PanelError, PanelResult};
use crate::model::{DAY, DeliveryId, EndpointId, Timestamp};
use crate::store::{DeliveryFilter, Quarantine, QueueStats, ResponseFilter};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Endpoint, Topic};
use crate::webhook_admin::AwaitedAttempt;

/// Deliveries per page.
const PAGE_SIZE: u32 = 50;

/// Number of characters of a URL in an option of the filter.
const MAX_OPTION_LEN: usize = 60;

/// Period of a list that is filtered by response, if the filter sets no beginning. The period bounds the search,
/// because no index contains the responses.
const RESPONSE_PERIOD: Duration = DAY.saturating_mul(7);

/// Longest time for which a page waits for an attempt that has not begun. It waits longer for an attempt that has begun.
const RESULT_TIMEOUT: Duration = Duration::from_secs(10);

const MINUTE: Duration = Duration::from_secs(60);

const WITHHELD: &str = "The owner of the endpoint is not allowed to receive this event. Redeliver it after the owner's permissions have changed.";

/// `GET /deliveries`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let filter = parse_filter(&context.query, context.now);
    let fields = filter_fields(context, &filter);
    let endpoints = context.webhooks()?.endpoints.list().await?;
    let mut deliveries = context.webhooks()?.deliveries.list(&filter).await?;
    let more = deliveries.len() > PAGE_SIZE as usize;
    deliveries.truncate(PAGE_SIZE as usize);
    let last = deliveries.last().filter(|_| more);
    let rows = rows(context, &deliveries, &endpoints, true);
    let main = html! {
        p.lead { "Webhook deliveries and their states. After six failed attempts a delivery is dead, and is sent again only if you redeliver it. A delivery is gone if the endpoint responded with 410, and withheld if the endpoint's owner is no longer allowed to see the event." }
        (quarantine_warning(context).await?)
        (filter_form(context, &fields, &endpoints)?)
        @if is_default_period(&context.query, &filter) {
            p.hint { "If \"Queued from\" is empty, a filter by response covers the 7 days before \"Queued until\". If both are empty, it covers the last 7 days." }
        }
        (retry_dead(context, filter.endpoint_id.as_ref()).await?)
        @if deliveries.is_empty() {
            (no_deliveries(context, &fields, &endpoints))
        } @else {
            (table(rows))
        }
        @if let Some((last, _)) = last {
            (fields.next_page("Older deliveries", &position(last.created_at, &last.id)))
        }
    };
    context.show("Deliveries", main)
}

/// Parses the filter of a query. Ignores invalid values.
fn parse_filter(query: &Form, now: Timestamp) -> DeliveryFilter {
    let [from, to] = ["from", "to"].map(|name| parse_period(query.get(name)));
    let mut filter = DeliveryFilter {
        state: DeliveryState::parse(query.get("state")).ok(),
        endpoint_id: EndpointId::parse(query.get("endpoint")).ok(),
        topic: Topic::parse(query.get("topic")).ok(),
        response: ResponseFilter::parse(query.get("response")).ok(),
        since: from.map(|period| period.start),
        before: to.map(|period| period.end),
        after: parse_position(query.get("after"), DeliveryId::parse),
        limit: PAGE_SIZE + 1,
    };
    if is_default_period(query, &filter) {
        let end = filter.before.unwrap_or(now).min(now);
        let begin = end.saturating_sub(RESPONSE_PERIOD);
        filter.since = Some(begin.interval_start(MINUTE));
    }
    filter
}

/// Returns `true` if [`RESPONSE_PERIOD`] applies. A filter by `2xx` needs no period: it selects the state `delivered`, which
/// has an index.
fn is_default_period(query: &Form, filter: &DeliveryFilter) -> bool {
    filter.status_class().is_some() && parse_period(query.get("from")).is_none()
}

/// Parses a date or a date and time in UTC, for example `2026-01-31` or `2026-01-31T12:00`. Returns the period of the day,
/// minute or second.
fn parse_period(text: &str) -> Option<Range<Timestamp>> {
    let (start, length) = match text.len() {
        10 => (format!("{text}T00:00:00Z"), DAY),
        16 => (format!("{text}:00Z"), MINUTE),
        19 => (format!("{text}Z"), Duration::from_secs(1)),
        _ => return None,
    };
    let start = Timestamp::parse(&start).ok()?;
    Some(start..start.saturating_add(length))
}

/// Returns the fields of the form. Fields with an invalid value are empty.
fn filter_fields<'a>(context: &'a PageContext, filter: &DeliveryFilter) -> ListFilter<'a> {
    let validity = [
        ("state", filter.state.is_some()),
        ("endpoint", filter.endpoint_id.is_some()),
        ("topic", filter.topic.is_some()),
        ("response", filter.response.is_some()),
        // The filter can have a default period instead.
        ("from", parse_period(context.query.get("from")).is_some()),
        ("to", parse_period(context.query.get("to")).is_some()),
    ];
    let mut fields = ListFilter::new(context, "/deliveries", &validity.map(|(name, _)| name));
    for (name, _) in validity.into_iter().filter(|(_, is_valid)| !is_valid) {
        fields.set(name, String::new());
    }
    // The time fields of the form accept only a date with a time of day.
    for (name, time_of_day) in [("from", "T00:00"), ("to", "T23:59")] {
        if fields.get(name).len() == "2026-01-31".len() {
            fields.set(name, format!("{}{time_of_day}", fields.get(name)));
        }
    }
    fields
}

fn filter_form(
    context: &PageContext,
    fields: &ListFilter<'_>,
    endpoints: &[Endpoint],
) -> PanelResult<Markup> {
    let states =
        DeliveryState::ALL.iter().map(|state| (state.as_str().into(), state.as_str().into()));
    let endpoints = endpoints.iter().map(|one| (one.id.to_string(), shortened(&one.url)));
    let topics = context
        .webhook_admin()?
        .known_topics()
        .chain([Topic::PING])
        .map(|topic| (topic.to_string(), topic.to_string()));
    let responses = ResponseFilter::ALL.iter().map(|response| {
        let text = match response {
            ResponseFilter::NoResponse => "no response",
            other => other.as_str(),
        };
        (response.as_str().into(), text.into())
    });
    let [from, to] = ["from", "to"].map(|name| fields.get(name));
    let is_open = !(from.is_empty() && to.is_empty());
    let controls = html! {
        (fields.choice("state", "State", "Any state", states))
        (fields.choice("endpoint", "Endpoint", "Any endpoint", endpoints))
        (fields.choice("topic", "Topic", "Any topic", topics))
        (fields.choice("response", "Response", "Any response", responses))
        details.range open[is_open] {
            summary { "Time range" }
            (time_field("from", "Queued from", from))
            (time_field("to", "Queued until", to))
        }
    };
    Ok(fields.form("Deliveries", "wide", controls))
}

/// Renders a field in UTC. The script shows the local time and its zone instead.
fn time_field(name: &str, label: &str, value: &str) -> Markup {
    html! {
        div {
            label for=(name) { (label) " (" span.zone { "UTC" } ")" }
            input id=(name) name=(name) type="datetime-local" value=(value);
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
pub(super) async fn quarantine_warning(context: &PageContext) -> PanelResult<Markup> {
    let quarantine = context.webhooks()?.outbox.quarantined(1).await?;
    let is_capped = quarantine.count >= Quarantine::MAX_COUNT;
    let events = plural(quarantine.count, "event");
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

fn no_deliveries(context: &PageContext, fields: &ListFilter<'_>, endpoints: &[Endpoint]) -> Markup {
    if endpoints.is_empty() {
        let add = html! { a href=(context.url("/webhooks/new")) { "Add an endpoint" } " to receive events." };
        return empty("There are no deliveries.", add);
    }
    if let Some(no_matches) = fields.no_matches("No deliveries match these filters.") {
        return no_matches;
    }
    let ping = html! { "Send a ping to one of the " a href=(context.url("/webhooks")) { "endpoints" } " to create a delivery." };
    empty("There are no deliveries.", ping)
}

/// Renders the button that redelivers all dead deliveries, or those of an endpoint, with their number. Renders nothing if
/// there are none.
pub(super) async fn retry_dead(
    context: &PageContext,
    endpoint: Option<&EndpointId>,
) -> PanelResult<Markup> {
    let count = context.webhooks()?.deliveries.count_dead(endpoint).await?;
    let (path, of) = match endpoint {
        Some(id) => (format!("/webhooks/{id}/retry-dead"), "this endpoint"),
        None => ("/deliveries/retry-dead".into(), "all endpoints"),
    };
    let number = match count {
        QueueStats::MAX_DEPTH.. => format!("more than {}", QueueStats::MAX_DEPTH - 1),
        count => count.to_string(),
    };
    Ok(html! {
        @if count > 0 {
            div.actions {
                (context.button(&path, &format!("Redeliver all failed ({number})"), "", "quiet"))
            }
            p.hint { "Queues all dead deliveries of " (of) " again." }
        }
    })
}

/// `POST /deliveries/retry-dead`
pub(super) async fn retry_all_dead(context: &PageContext) -> PageResult {
    let admin = context.webhook_admin()?;
    admin.retry_all_dead(&context.actor).await?;
    context.redirect_with_flash("/deliveries", "all-retried")
}

/// Returns the rows of a table of deliveries with their last attempts. `endpoints` contains the endpoints of the deliveries
/// that were not removed.
pub(super) fn rows(
    context: &PageContext,
    deliveries: &[(Delivery, Option<AttemptRecord>)],
    endpoints: &[Endpoint],
    with_endpoint: bool,
) -> Vec<TableRow> {
    let rows = deliveries.iter().map(|(delivery, last)| {
        let progress = &delivery.progress;
        let endpoint = endpoints.iter().find(|one| one.id == delivery.endpoint_id);
        let path = context.url(&format!("/deliveries/{}", delivery.id));
        let name = html! { a href=(path) { (delivery.topic) } " " code { (delivery.id) } };
        let mut row = vec![("Delivery", name)];
        if with_endpoint {
            let url = url(&delivery.endpoint_id, endpoints);
            row.push(("Endpoint", one_line(&url)));
        }
        row.extend([
            ("State", badge(progress.state.as_str())),
            ("Response", response(last.as_ref())),
            ("Attempts", html! { (progress.attempts) }),
            ("Queued", context.relative_time(delivery.created_at)),
            ("Next attempt", next_attempt(context, delivery, endpoint)),
        ]);
        row
    });
    rows.collect()
}

/// Renders the status and the duration of the last attempt.
fn response(last: Option<&AttemptRecord>) -> Markup {
    html! {
        @if let Some(last) = last {
            (status_text(last)) @if last.error.as_ref().is_none_or(|error| error.sent) { " · " (last.duration_ms) "\u{a0}ms" }
        } @else { "none" }
    }
}

/// Returns the status of an attempt, or the reason why it has none.
fn status_text(attempt: &AttemptRecord) -> String {
    match (attempt.status, &attempt.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) if !error.sent => "not sent".into(),
        (None, _) => "no response".into(),
    }
}

/// Returns the time of the next attempt. Deliveries of a disabled endpoint wait until it is enabled.
fn next_attempt(context: &PageContext, delivery: &Delivery, endpoint: Option<&Endpoint>) -> Markup {
    match delivery.progress.due_at {
        Some(_) if endpoint.is_some_and(|endpoint| !endpoint.enabled) => {
            html! { "paused (endpoint disabled)" }
        }
        Some(due_at) => context.relative_time(due_at),
        None => html! { "none" },
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
    let webhooks = context.webhooks()?;
    let endpoint = webhooks.endpoints.find(&delivery.endpoint_id).await?;
    let stored = webhooks.outbox.find(&delivery.event_id).await?;
    let request_id = stored.as_ref().and_then(|event| event.request_id.as_deref());
    let next = if delivery.progress.state.is_pending()
        && webhooks.deliveries.is_sending(&delivery.id, context.now).await?
    {
        html! { "being sent" }
    } else {
        next_attempt(context, &delivery, endpoint.as_ref())
    };
    let url = endpoint.map_or_else(|| delivery.endpoint_id.to_string(), |endpoint| endpoint.url);
    let endpoint_path = context.url(&format!("/webhooks/{}", delivery.endpoint_id));
    let id = &delivery.id;
    let progress = &delivery.progress;
    let remove = format!("/deliveries/{id}/remove");
    let state = html! {
        (badge(progress.state.as_str()))
        @if progress.state == DeliveryState::Withheld { " " small { (WITHHELD) } }
    };
    let main = html! {
        (result(context, &delivery, attempts.last()))
        (properties([
            ("State", state),
            ("Topic", html! { (delivery.topic) }),
            ("Endpoint", html! { a href=(endpoint_path) { (breakable(&url)) } }),
            ("Queued", context.time(delivery.created_at)),
            ("Next attempt", next),
            ("Id", html! { code data-copy="id" { (id) } }),
            ("Event", html! { code data-copy="event id" { (delivery.event_id) } }),
            ("Request", html! {
                @match request_id {
                    Some(id) => code data-copy="request id" { (id) },
                    None => "none: not caused by an API request",
                }
            }),
        ]))
        @if progress.state != DeliveryState::Queued {
            div.actions {
                (context.button(&format!("/deliveries/{id}/retry"), "Redeliver", "this delivery", ""))
            }
        }
        section aria-labelledby="attempts" {
            h2 id="attempts" { "Attempts" }
            @if attempts.is_empty() {
                p { "No attempts yet." }
            } @else {
                ol.timeline reversed {
                    @for (index, attempt) in attempts.iter().enumerate().rev() {
                        (attempt_item(context, attempt, index + 1 == attempts.len()))
                    }
                }
            }
        }
        @if let Some(event) = &stored {
            section aria-labelledby="body" {
                h2 id="body" { "Request body" }
                p.hint { "Indented for reading. The signature covers the body as it was sent, without this white space." }
                (copyable("Request body", &pretty_json(&event.delivery_body(id))))
            }
        }
        (danger_section(
            "Remove",
            "Remove this delivery…",
            "The delivery and the records of its attempts are removed. If it is queued, it is not sent.",
            context.button(&remove, "Remove", "this delivery", "danger primary"),
        ))
    };
    context.show(&format!("{} {id}", delivery.topic), main)
}

/// Waits for the attempt of a delivery that was just sent, and redirects to its page, which shows the result. `previous` is
/// the last attempt before.
pub(super) async fn show_result(
    context: &PageContext,
    id: &DeliveryId,
    previous: Option<&AttemptRecord>,
) -> PageResult {
    let admin = context.webhook_admin()?;
    // The redirect must be sent within the timeout of the request.
    let longest = context.panel.settings.request_timeout / 2;
    let limit = RESULT_TIMEOUT.min(longest);
    let flash = match admin.wait_for_attempt(id, previous, limit, longest - limit).await? {
        AwaitedAttempt::Ended(_) => "attempted",
        AwaitedAttempt::Sending => "sending",
        AwaitedAttempt::Waiting => "queued",
        AwaitedAttempt::Removed => {
            return context.redirect_with_flash("/deliveries", "delivery-removed");
        }
    };
    context.redirect_with_flash(&format!("/deliveries/{id}"), flash)
}

/// Renders the result of the attempt whose request redirected to the page.
fn result(context: &PageContext, delivery: &Delivery, last: Option<&AttemptRecord>) -> Markup {
    let is_ping = delivery.topic == Topic::PING;
    let what = if is_ping { "Ping" } else { "Event" };
    let done = context.query.get("done");
    let state = delivery.progress.state;
    let reason = last.and_then(|last| match (last.status, &last.error) {
        (Some(status), _) => Some(format!("The endpoint responded with {status}.")),
        (None, error) => error.as_ref().map(ToString::to_string),
    });
    html! {
        @match state {
            _ if !matches!(done, "attempted" | "queued" | "sending") => {}
            DeliveryState::Delivered => p.notice role="status" { (what) " delivered. " (reason.unwrap_or_default()) }
            DeliveryState::Withheld => p.alert role="alert" { (what) " not sent. " (WITHHELD) }
            _ if done != "attempted" && state.is_pending() => p.notice.waiting role="status" {
                (what) (if done == "sending" { " is being sent" } else { " queued" })
                ". There is no result yet. Reload this page to see it."
            }
            DeliveryState::Queued => {}
            DeliveryState::Retrying | DeliveryState::Dead | DeliveryState::Gone => p.alert role="alert" {
                (what) " failed. " (reason.unwrap_or_default())
            }
        }
    }
}

/// Renders an attempt of the time line. Its details are visible at first if `is_open`.
fn attempt_item(context: &PageContext, attempt: &AttemptRecord, is_open: bool) -> Markup {
    let number = attempt.attempt;
    let class = match attempt.status {
        Some(200..=299) => "delivered",
        _ => "dead",
    };
    let status = status_text(attempt);
    let parts = [
        ("Request headers", &attempt.request_headers),
        ("Response headers", &attempt.response_headers),
        ("Response body", &attempt.response_excerpt),
    ];
    html! {
        li {
            details open[is_open] {
                summary {
                    span.badge.(class) { (status) }
                    " " strong { "Attempt " (number) } " "
                    (context.time(attempt.started_at)) " "
                    span { (attempt.duration_ms) "\u{a0}ms" }
                    @if let Some(error) = &attempt.error { " " span.long { (error.reason) } }
                }
                @for (title, text) in parts {
                    @match text.as_deref() {
                        Some("") => p { (title) ": empty" },
                        Some(text) => {
                            h3 { (title) }
                            (copyable(&format!("{title} of attempt {number}"), text))
                        }
                        None => {}
                    }
                }
            }
        }
    }
}

/// Renders a text of several lines in a block that scrolls.
fn copyable(name: &str, text: &str) -> Markup {
    html! { pre.block tabindex="0" role="group" aria-label=(name) data-copy=(name.to_lowercase()) { (text) } }
}

/// `POST /deliveries/{id}/retry`
pub(super) async fn retry(context: &PageContext) -> PageResult {
    let id = parse_id(context)?;
    let path = format!("/deliveries/{id}");
    let (_, attempts) = find(context).await?;
    let admin = context.webhook_admin()?;
    if admin.retry_delivery(&id, &context.actor).await? {
        return show_result(context, &id, attempts.last()).await;
    }
    let (delivery, _) = find(context).await?;
    let reason = match delivery.progress.state {
        DeliveryState::Queued => {
            "The delivery is already queued or being sent. If its endpoint is disabled, it is sent after you enable the \
             endpoint."
        }
        _ => "The delivery is being sent. Try again after this attempt.",
    };
    context.conflict(reason, &path)
}

/// `POST /deliveries/{id}/remove`
pub(super) async fn remove(context: &PageContext) -> PageResult {
    let id = parse_id(context)?;
    let admin = context.webhook_admin()?;
    if !admin.remove_delivery(&id, &context.actor).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(delivery = %id, admin = %context.session.user_id, "delivery removed");
    context.redirect_with_flash("/deliveries", "delivery-removed")
}

fn parse_id(context: &PageContext) -> PanelResult<DeliveryId> {
    DeliveryId::parse(&context.id).map_err(|_| PanelError::NotFound)
}

async fn find(context: &PageContext) -> PanelResult<(Delivery, Vec<AttemptRecord>)> {
    let deliveries = &context.webhooks()?.deliveries;
    let delivery = deliveries.find(&parse_id(context)?).await?;
    delivery.ok_or(PanelError::NotFound)
}
