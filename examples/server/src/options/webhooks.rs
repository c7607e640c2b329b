//! Options of webhooks.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use forum_api::webhook::AllowedAddresses;

use super::values::{hours, number, seconds};

pub(super) const WEBHOOKS: &str = "Webhooks";

/// Default of `--event-retention`.
pub const DEFAULT_EVENT_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Options of registering endpoints and sending to them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = WEBHOOKS)]
pub struct WebhookOptions {
    /// Allow webhooks to loopback, private and unique-local addresses; set it for `webhook`, `serve` and `worker`, which
    /// all check addresses; loopback addresses are also allowed if the host of --base-url is a loopback address
    #[arg(long)]
    pub allow_private_webhooks: bool,
    /// Encrypt webhook secrets with the key in this file (at least 16 bytes); without a key, secrets are stored in plain
    /// text [default with SQLite: the path of the database followed by .key; this file is created with a new database]
    #[arg(long, value_name = "PATH")]
    pub secret_key_file: Option<PathBuf>,
}

impl WebhookOptions {
    /// Returns the addresses that are allowed for a server with this public URL. An empty URL allows public addresses only,
    /// unless `--allow-private-webhooks` is set.
    pub fn allowed_addresses(&self, base_url: &str) -> AllowedAddresses {
        if self.allow_private_webhooks {
            AllowedAddresses::Private
        } else {
            AllowedAddresses::for_base_url(base_url)
        }
    }
}

/// Options of attempts and retries.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = WEBHOOKS)]
pub struct RetryOptions {
    /// Delay after the first failed attempt of a delivery; doubles after each failure
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub webhook_initial_backoff: Duration,
    /// Longest delay between two attempts
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    pub webhook_max_backoff: Duration,
    /// Time limit of an attempt: connection, request and response
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub webhook_timeout: Duration,
    /// Time to keep delivered, gone and withheld deliveries after they reach this state
    #[arg(long = "webhook-retention", value_name = "SECONDS", default_value = "604800", value_parser = seconds)]
    pub webhook_retention: Duration,
    /// Time to keep dead deliveries after their creation [default: until they are retried or removed]
    #[arg(long = "webhook-dead-retention", value_name = "SECONDS", value_parser = seconds)]
    pub webhook_dead_retention: Option<Duration>,
    /// Time for which clients can read events in the feed, GET /x/events, in hours; fractions are allowed; 0 is no feed;
    /// set it for `serve` and `worker` alike
    #[arg(long, value_name = "HOURS", default_value = "24", value_parser = hours)]
    pub event_retention: Duration,
    /// Maximum number of concurrent attempts
    #[arg(long, value_name = "N", default_value = "256", value_parser = number)]
    pub webhook_concurrency: u32,
    /// Maximum number of concurrent attempts for one endpoint
    #[arg(long, value_name = "N", default_value = "4", value_parser = number)]
    pub webhook_endpoint_concurrency: u32,
}
