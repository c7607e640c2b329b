//! Command `delivery`.

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::{Args, Subcommand};
use forum_api::Environment;
use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::panel::pretty_json;
use forum_api::store::{DeliveryFilter, ResponseFilter, WebhookStores};
use forum_api::webhook::{self, AttemptRecord, DeliveryState, Topic};
use forum_api::webhook_admin::WebhookAdmin;
use serde::Serialize;

use super::webhook::{endpoint, generated_id};
use crate::audit;
use crate::board::db::BoardDatabase;
use crate::options::{days, time as parse_time};
use crate::output::{
    Column, Limit, ListItem, Output, coloured_state, counted, heading, labelled, time,
};
use crate::webhooks::{refusal, refusal_for, unknown_endpoint};

/// Maximum number of deliveries that one call of the store returns.
const PAGE: u32 = 100;

/// Deliveries of webhooks.
#[derive(Debug, Subcommand)]
pub enum DeliveryCommand {
    /// List deliveries, newest first, with the answer to the last attempt
    List(ListArgs),
    /// Show a delivery, the body of its requests, and headers and response of each attempt
    Show {
        /// Delivery id
        #[arg(value_parser = delivery)]
        id: DeliveryId,
    },
    /// Retry a finished delivery, or send a retrying one at once
    #[command(visible_alias = "redeliver")]
    Retry(RetryArgs),
    /// Remove old deliveries in one state
    Purge {
        /// State of the deliveries: dead, delivered, gone or withheld
        #[arg(long, value_name = "STATE", value_parser = parse_finished_state)]
        state: DeliveryState,
        /// Minimum number of days since the deliveries were created
        #[arg(long, value_name = "DAYS", value_parser = days)]
        older_than: Duration,
    },
    /// Remove a delivery in any state
    Remove {
        /// Delivery id
        #[arg(value_parser = delivery)]
        id: DeliveryId,
    },
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only deliveries in this state: queued, retrying, delivered, dead, gone or withheld
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<DeliveryState>,
    /// Only deliveries to this endpoint
    #[arg(long, value_name = "ID", value_parser = endpoint)]
    endpoint: Option<EndpointId>,
    /// Only deliveries of this topic, for example post.created
    #[arg(long, value_name = "TOPIC", value_parser = topic)]
    topic: Option<Topic>,
    /// Only deliveries with this response to the last attempt: 2xx, 3xx, 4xx, 5xx or none
    #[arg(long, value_name = "RESPONSE", value_parser = response)]
    response: Option<ResponseFilter>,
    /// Only deliveries that were queued at this time or later, for example 2026-01-31 or 2026-01-31T12:00 (UTC)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only deliveries that were queued before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    before: Option<Timestamp>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "forum-server delivery retry [OPTIONS] <ID>\n       forum-server delivery retry [OPTIONS] --dead [--endpoint <ID>]"
)]
pub struct RetryArgs {
    /// Delivery id
    #[arg(required_unless_present = "dead", conflicts_with_all = ["dead", "endpoint"], value_parser = delivery)]
    id: Option<DeliveryId>,
    /// Retry all dead deliveries, or those of an endpoint
    #[arg(long)]
    dead: bool,
    /// Id of the endpoint whose dead deliveries are retried
    #[arg(long, value_name = "ID", requires = "dead", value_parser = endpoint)]
    endpoint: Option<EndpointId>,
}

impl DeliveryCommand {
    pub async fn run(self, database: &BoardDatabase) -> BoardResult<Output> {
        let webhooks = database.webhooks();
        let admin = WebhookAdmin::new(webhooks.clone(), &Environment::default());
        let by = &audit::actor();
        match self {
            Self::List(args) => args.list(&webhooks).await,
            Self::Show { id } => show(&webhooks, &id).await,
            Self::Retry(RetryArgs { id: Some(id), .. }) => retry(&webhooks, &admin, &id).await,
            Self::Retry(RetryArgs { endpoint, .. }) => {
                let (retried, of, none) = match &endpoint {
                    Some(id) => {
                        let retried =
                            admin.retry_dead(id, by).await.map_err(|error| refusal_for(id, error));
                        let none = format!("Endpoint {id} has no dead deliveries.");
                        (retried, format!(" of endpoint {id}"), none)
                    }
                    None => {
                        let retried = admin.retry_all_dead(by).await.map_err(refusal);
                        let none = "There are no dead deliveries.".into();
                        (retried, String::new(), none)
                    }
                };
                let count = retried?;
                let deliveries = counted(count, "dead delivery", "dead deliveries");
                let done = format!("Queued {deliveries}{of} again.");
                Output::message_if_changed(count > 0, done, none)
            }
            Self::Purge { state, older_than } => {
                let removed =
                    admin.purge_deliveries(state, older_than, by).await.map_err(refusal)?;
                let state = state.as_str();
                let deliveries =
                    counted(removed, &format!("{state} delivery"), &format!("{state} deliveries"));
                Output::message(format_args!("Removed {deliveries}."))
            }
            Self::Remove { id } => {
                if admin.remove_delivery(&id, by).await.map_err(refusal)? {
                    Output::message(format_args!("Removed delivery {id}."))
                } else {
                    Err(not_found(&id))
                }
            }
        }
    }
}

async fn show(webhooks: &WebhookStores, id: &DeliveryId) -> BoardResult<Output> {
    let (delivery, log) = webhooks.find_delivery(id).await?.ok_or_else(|| not_found(id))?;
    let (body, request_id) = match webhooks.find_event(&delivery.event_id).await? {
        Some(event) => (Some(event.delivery_body(id)), event.request_id),
        None => (None, None),
    };
    let endpoint = webhooks.find_endpoint(&delivery.endpoint_id).await?;
    let disabled =
        endpoint.as_ref().filter(|endpoint| !endpoint.enabled).map(|endpoint| endpoint.id.clone());
    let event = delivery.event_id.to_string();
    let listing = DeliveryListing::new(delivery, disabled.as_slice());
    let state = match listing.state {
        "withheld" => "withheld (the owner of the endpoint is not allowed to receive this event)",
        state => &coloured_state(state, state),
    };
    let url = endpoint.map_or_else(|| "(removed)".into(), |endpoint| endpoint.url);
    let paused = "paused (endpoint disabled)";
    let next_attempt = listing.next_attempt(paused, |time| time.to_string());
    let mut text = labelled(&[
        ("delivery", listing.id.to_string()),
        ("state", state.into()),
        ("topic", listing.topic.clone()),
        ("event", event),
        ("request", request_id.as_deref().unwrap_or("-").into()),
        ("endpoint", listing.endpoint_id.to_string()),
        ("URL", url),
        ("queued", listing.created_at.to_string()),
        ("next attempt", next_attempt),
        ("attempts", listing.attempts.to_string()),
    ]);
    text.push('\n');
    let body = body.map(|body| if io::stdout().is_terminal() { pretty_json(&body) } else { body });
    text += &section("Request body", body.as_deref());
    text.extend(log.iter().map(format_attempt));
    let shown = DeliveryListing { log: Some(log), request_id: Some(request_id), ..listing };
    Output::new(text, shown)
}

impl ListArgs {
    async fn list(self, webhooks: &WebhookStores) -> BoardResult<Output> {
        let mut filter = DeliveryFilter::default();
        filter.state = self.state;
        filter.endpoint_id = self.endpoint;
        filter.topic = self.topic;
        filter.response = self.response;
        filter.since = self.since;
        filter.before = self.before;
        filter.limit = PAGE;
        if let Some(id) = &filter.endpoint_id
            && webhooks.find_endpoint(id).await?.is_none()
        {
            return Err(unknown_endpoint(id));
        }
        let disabled = find_disabled(webhooks).await?;
        let mut all = Vec::new();
        while !self.limit.is_reached(all.len()) {
            let page = webhooks.list_deliveries(&filter).await?;
            let Some((last, _)) = page.last() else {
                break;
            };
            filter.after = Some((last.created_at, last.id.clone()));
            all.extend(page.into_iter().map(|(delivery, last)| DeliveryListing {
                last,
                ..DeliveryListing::new(delivery, &disabled)
            }));
        }
        Output::list(all, self.limit)
    }
}

/// Returns the ids of the disabled endpoints.
async fn find_disabled(webhooks: &WebhookStores) -> BoardResult<Vec<EndpointId>> {
    let all = webhooks.list_endpoints().await?.into_iter();
    Ok(all.filter(|endpoint| !endpoint.enabled).map(|endpoint| endpoint.id).collect())
}

async fn retry(
    webhooks: &WebhookStores,
    admin: &WebhookAdmin,
    id: &DeliveryId,
) -> BoardResult<Output> {
    if admin.retry_delivery(id, &audit::actor()).await.map_err(refusal)? {
        return Output::message(format_args!("Delivery {id} will be sent again."));
    }
    let (delivery, _) = webhooks.find_delivery(id).await?.ok_or_else(|| not_found(id))?;
    Err(BoardError::conflict(match delivery.progress.state {
        DeliveryState::Queued => {
            "the delivery is already queued or being sent; if its endpoint is disabled, it is sent after you enable the \
             endpoint"
        }
        _ => "the delivery is being sent; try again after this attempt",
    }))
}

fn delivery(id: &str) -> Result<DeliveryId, &'static str> {
    generated_id(id, "dlv_")
        .and_then(|id| DeliveryId::parse(id).ok())
        .ok_or("expected a delivery id, as printed by `delivery list`")
}

fn response(name: &str) -> Result<ResponseFilter, &'static str> {
    ResponseFilter::parse(name).map_err(|_| "expected one of 2xx, 3xx, 4xx, 5xx, none")
}

fn topic(name: &str) -> Result<Topic, String> {
    let known = || Topic::STANDARD.iter().chain([&Topic::PING]);
    known().find(|topic| topic.as_str() == name).cloned().ok_or_else(|| {
        let names: Vec<_> = known().map(Topic::as_str).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn not_found(id: &DeliveryId) -> BoardError {
    BoardError::not_found(format!("unknown delivery \"{id}\""))
}

fn parse_finished_state(name: &str) -> Result<DeliveryState, &'static str> {
    state(name)
        .ok()
        .filter(|state| !state.is_pending())
        .ok_or("expected one of dead, delivered, gone, withheld")
}

fn state(name: &str) -> Result<DeliveryState, String> {
    DeliveryState::parse(name).map_err(|_| {
        let names: Vec<_> = DeliveryState::ALL.iter().map(|state| state.as_str()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// A delivery in the output. `log` and `request_id` are present only in the output of `delivery show`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryListing {
    id: DeliveryId,
    endpoint_id: EndpointId,
    topic: String,
    state: &'static str,
    attempts: u32,
    created_at: Timestamp,
    next_attempt_at: Option<Timestamp>,
    /// `true` if the endpoint is disabled. Its deliveries wait until it is enabled.
    #[serde(skip)]
    paused: bool,
    /// The last attempt. `None` without an attempt, and in the output of `delivery show`, which has all attempts.
    #[serde(skip)]
    last: Option<AttemptRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Vec<AttemptRecord>>,
}

impl DeliveryListing {
    fn new(delivery: webhook::Delivery, disabled: &[EndpointId]) -> Self {
        Self {
            paused: disabled.contains(&delivery.endpoint_id),
            id: delivery.id,
            endpoint_id: delivery.endpoint_id,
            topic: delivery.topic.to_string(),
            state: delivery.progress.state.as_str(),
            attempts: delivery.progress.attempts,
            created_at: delivery.created_at,
            next_attempt_at: delivery.progress.due_at,
            last: None,
            request_id: None,
            log: None,
        }
    }

    /// Returns the formatted time of the next attempt, or `paused` if the endpoint is disabled.
    fn next_attempt(&self, paused: &str, format: impl Fn(Timestamp) -> String) -> String {
        match self.next_attempt_at {
            Some(_) if self.paused => paused.into(),
            Some(time) => format(time),
            None => "-".into(),
        }
    }
}

impl ListItem for DeliveryListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("STATE"),
        Column::new("ANSWER").long(),
        Column::new("TOPIC").whole(),
        Column::new("CREATED"),
        Column::new("ENDPOINT").optional().whole(),
        Column::new("ATTEMPTS").optional(),
        Column::new("NEXT").optional(),
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.state.into(),
            self.last.as_ref().map_or("-".into(), outcome),
            self.topic.clone(),
            time(self.created_at),
            self.endpoint_id.to_string(),
            self.attempts.to_string(),
            self.next_attempt("paused", time),
        ]
    }
}

/// Formats the status of the response to an attempt, or the error.
fn outcome(attempt: &AttemptRecord) -> String {
    match (attempt.status, &attempt.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.to_string(),
        (None, None) => "no response".into(),
    }
}

/// Formats an attempt: `#2  2026-01-31T12:00:00.000Z  17 ms  503`, and headers and body below.
fn format_attempt(attempt: &AttemptRecord) -> String {
    let title = format!(
        "#{}  {}  {} ms  {}",
        attempt.attempt,
        attempt.started_at,
        attempt.duration_ms,
        outcome(attempt),
    );
    let parts = [
        ("Request headers", &attempt.request_headers),
        ("Response headers", &attempt.response_headers),
        ("Response body", &attempt.response_excerpt),
    ]
    .map(|(title, text)| section(title, text.as_deref()));
    format!("\n{}\n{}", heading(title), parts.concat())
}

/// Formats a title and a text, which is indented, so that a receiver cannot add lines that look like those of the
/// command. Without a text, returns an empty string.
fn section(title: &str, text: Option<&str>) -> String {
    let Some(text) = text else {
        return String::new();
    };
    if text.is_empty() {
        return format!("{title}: empty\n");
    }
    let lines = text.lines().map(|line| format!("    {}\n", line.replace('\r', " ")));
    format!("{title}\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Table;

    #[test]
    fn a_list_at_a_narrow_terminal_has_ids_topics_and_answers() {
        let mut table = Table::new(DeliveryListing::COLUMNS);
        let id = "dlv_0123456789012345678901";
        let endpoint = "whe_0123456789012345678901";
        let error = "the certificate is not valid for the host";
        table.row(
            [id, "retrying", error, "thread.restored", "365d ago", endpoint, "3", "in 59m"]
                .map(Into::into),
        );
        let text = anstream::adapter::strip_str(&table.format(80)).to_string();
        let lines: Vec<_> = text.lines().collect();
        for expected in [id, "retrying", "the certif", "thread.restored", "365d ago"] {
            assert!(lines[1].contains(expected), "{text}");
        }
        assert_eq!(lines[2], "not shown: ENDPOINT, ATTEMPTS, NEXT");
        let wide = table.format(usize::MAX);
        assert!(wide.contains(endpoint) && wide.contains(error), "{wide}");
    }
}
