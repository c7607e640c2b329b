//! `delivery`.

use std::fmt;

use clap::{Args, Subcommand};
use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::runtime::{Clock, SystemClock, TokioRuntime};
use forum_api::store::{DeliveryFilter, WebhookStores};
use forum_api::webhook::{self, AttemptRecord, DeliveryState};
use forum_api::webhook_admin::WebhookAdmin;
use serde::Serialize;

use super::webhook::endpoint;
use crate::board::db::BoardDatabase;
use crate::output::Output;
use crate::webhooks::{refusal_for, unknown_endpoint};

/// Deliveries of a page of the store.
const PAGE: u32 = 100;

/// Deliveries of webhooks.
#[derive(Debug, Subcommand)]
pub enum DeliveryCommand {
    /// List deliveries, newest first
    List {
        /// Only deliveries in this state
        #[arg(long, value_name = "STATE", value_parser = state)]
        state: Option<DeliveryState>,
        /// Only deliveries to this endpoint
        #[arg(long, value_name = "ID", value_parser = endpoint)]
        endpoint: Option<EndpointId>,
    },
    /// Show a delivery and its attempts
    Show {
        /// Delivery id
        #[arg(value_parser = delivery)]
        id: DeliveryId,
    },
    /// Retry a finished delivery, or send a retrying one at once
    Retry(RetryArgs),
    /// Remove a delivery in any state
    Remove {
        /// Delivery id
        #[arg(value_parser = delivery)]
        id: DeliveryId,
    },
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Delivery id
    #[arg(required_unless_present = "dead", conflicts_with_all = ["dead", "endpoint"], value_parser = delivery)]
    id: Option<DeliveryId>,
    /// Retry all dead deliveries of an endpoint
    #[arg(long, requires = "endpoint")]
    dead: bool,
    /// Endpoint id
    #[arg(long, value_name = "ID", requires = "dead", value_parser = endpoint)]
    endpoint: Option<EndpointId>,
}

impl DeliveryCommand {
    pub async fn run(self, database: &BoardDatabase) -> BoardResult<Output> {
        let webhooks = database.webhooks();
        match self {
            Self::List { state, endpoint } => list(&webhooks, state, endpoint).await,
            Self::Show { id } => {
                let found = webhooks.deliveries.find(&id).await?;
                let (delivery, log) = found.ok_or_else(|| not_found(&id))?;
                let shown = DeliveryListing::new(delivery, Some(log));
                Output::new(shown.to_string(), shown)
            }
            Self::Retry(RetryArgs { id: Some(id), .. }) => retry(&webhooks, &id).await,
            Self::Retry(RetryArgs { endpoint, .. }) => {
                let Some(endpoint) = endpoint else {
                    return Output::nothing();
                };
                let retried = WebhookAdmin::new(webhooks, TokioRuntime)
                    .retry_dead(&endpoint)
                    .await;
                let count = retried.map_err(|error| refusal_for(&endpoint, error))?;
                let noun = if count == 1 { "delivery" } else { "deliveries" };
                Output::done_with(format_args!(
                    "Queued {count} dead {noun} of endpoint {endpoint} again."
                ))
            }
            Self::Remove { id } => {
                if webhooks.deliveries.remove(&id).await? {
                    return Output::done_with(format_args!("Removed delivery {id}."));
                }
                Err(not_found(&id))
            }
        }
    }
}

async fn list(
    webhooks: &WebhookStores,
    state: Option<DeliveryState>,
    endpoint: Option<EndpointId>,
) -> BoardResult<Output> {
    let mut filter = DeliveryFilter {
        state,
        endpoint,
        limit: PAGE,
        ..DeliveryFilter::default()
    };
    if let Some(id) = &filter.endpoint
        && webhooks.endpoints.find(id).await?.is_none()
    {
        return Err(unknown_endpoint(id));
    }
    let mut all = Vec::new();
    loop {
        let page = webhooks.deliveries.list(&filter).await?;
        let last = page.last().map(|last| (last.created_at, last.id.clone()));
        all.extend(
            page.into_iter()
                .map(|delivery| DeliveryListing::new(delivery, None)),
        );
        match last {
            Some(_) => filter.after = last,
            None => break,
        }
    }
    Output::list(all)
}

async fn retry(webhooks: &WebhookStores, id: &DeliveryId) -> BoardResult<Output> {
    if webhooks.deliveries.retry(id, SystemClock.now()).await? {
        return Output::done_with(format_args!("Queued delivery {id} again."));
    }
    let found = webhooks.deliveries.find(id).await?;
    let (found, _) = found.ok_or_else(|| not_found(id))?;
    let state = found.progress.state.as_str();
    let reason = format!(
        "the delivery is {state}: it waits to be sent or is being sent; deliveries to a disabled endpoint wait until you \
         enable it"
    );
    Err(BoardError::conflict(reason))
}

fn delivery(id: &str) -> Result<DeliveryId, &'static str> {
    DeliveryId::parse(id).map_err(|_| "expected a delivery id, as printed by `delivery list`")
}

fn not_found(id: &DeliveryId) -> BoardError {
    BoardError::not_found(format!("unknown delivery \"{id}\""))
}

fn state(name: &str) -> Result<DeliveryState, String> {
    DeliveryState::parse(name).map_err(|_| {
        let known = DeliveryState::ALL.map(DeliveryState::as_str).join(", ");
        format!("expected one of {known}")
    })
}

/// A delivery in the output. `log` is present when one is shown.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Vec<AttemptRecord>>,
}

impl DeliveryListing {
    fn new(delivery: webhook::Delivery, log: Option<Vec<AttemptRecord>>) -> Self {
        Self {
            id: delivery.id,
            endpoint_id: delivery.endpoint,
            topic: delivery.topic.to_string(),
            state: delivery.progress.state.as_str(),
            attempts: delivery.progress.attempts,
            created_at: delivery.created_at,
            next_attempt_at: delivery.progress.due_at,
            log,
        }
    }
}

impl fmt::Display for DeliveryListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            endpoint_id,
            state,
            topic,
            attempts,
            created_at,
            ..
        } = self;
        let noun = if *attempts == 1 {
            "attempt"
        } else {
            "attempts"
        };
        write!(
            f,
            "{id}  {state:9}  {topic:15}  {endpoint_id}  {created_at}  {attempts} {noun}"
        )?;
        if let Some(next) = self.next_attempt_at {
            write!(f, ", next at {next}")?;
        }
        for attempted in self.log.iter().flatten() {
            write!(
                f,
                "\n  {}  {}",
                attempted.started_at,
                format_attempt(attempted)
            )?;
        }
        Ok(())
    }
}

/// Formats an attempt as `#2  17 ms  503  "the answer"`. The answer is quoted: a receiver cannot write lines of its own.
fn format_attempt(attempted: &AttemptRecord) -> String {
    let (number, took) = (attempted.attempt, attempted.duration_ms);
    let status = attempted.status.map(|status| status.to_string());
    let answer = attempted
        .response_excerpt
        .as_ref()
        .filter(|answer| !answer.is_empty());
    let answer = answer.map(|answer| format!("{answer:?}"));
    let outcome = [&status, &attempted.error, &answer];
    let outcome: Vec<&str> = outcome.into_iter().flatten().map(String::as_str).collect();
    format!("#{number}  {took} ms  {}", outcome.join("  "))
}
