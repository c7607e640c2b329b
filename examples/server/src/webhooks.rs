//! What sending webhooks takes: options, secrets, and the worker.

use forum_api::Environment;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use forum_api::host::{Refusal, Result};
use forum_api::webhook::{Backoff, HttpSettings, HttpTransport};
use forum_api::webhook_admin::Registry;
use forum_api::worker::{Settings, Worker, WorkerHandle};

use crate::board::db::Database;
use crate::board::{Board, OfflineMembers};
use crate::stop::patiently;

/// What registering endpoints takes, and sending to them.
#[derive(Clone, Debug, Default, Args)]
pub struct Addresses {
    /// Let webhooks go to loopback, private and unique-local addresses
    #[arg(long)]
    pub allow_private_webhooks: bool,
    /// Encrypt webhook secrets with the key in this file, of 16 bytes or more [default: with SQLite the file DATABASE.key,
    /// which is created beside a new database; without it the secrets are stored in plain text]
    #[arg(long, value_name = "PATH")]
    pub secret_key_file: Option<PathBuf>,
}

/// How attempts follow each other.
#[derive(Clone, Debug, Default, Args)]
pub struct Pace {
    /// How long to wait after a delivery's first failure; doubles with each [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub webhook_initial_backoff: Option<Duration>,
    /// The longest wait between two attempts [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub webhook_max_backoff: Option<Duration>,
    /// How long one attempt may take [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub webhook_timeout: Option<Duration>,
    /// How long deliveries are kept that were delivered, gone or withheld [default: 604800]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub webhook_keep: Option<Duration>,
}

impl Addresses {
    /// These, or else what stood before the command.
    pub fn or(self, before: &Self) -> Self {
        Self {
            allow_private_webhooks: self.allow_private_webhooks || before.allow_private_webhooks,
            secret_key_file: self
                .secret_key_file
                .or_else(|| before.secret_key_file.clone()),
        }
    }

    /// Returns the operations on endpoints, in this environment.
    pub fn registry(&self, database: &Database, environment: &Environment) -> Registry {
        Registry::new(database.webhooks(), environment).allow_private(self.allow_private_webhooks)
    }
}

impl Pace {
    /// These, or else what stood before the command.
    pub fn or(self, before: &Self) -> Self {
        Self {
            webhook_initial_backoff: self
                .webhook_initial_backoff
                .or(before.webhook_initial_backoff),
            webhook_max_backoff: self.webhook_max_backoff.or(before.webhook_max_backoff),
            webhook_timeout: self.webhook_timeout.or(before.webhook_timeout),
            webhook_keep: self.webhook_keep.or(before.webhook_keep),
        }
    }

    fn backoff(&self) -> Backoff {
        let Backoff { initial, max } = Backoff::default();
        Backoff {
            initial: self.webhook_initial_backoff.unwrap_or(initial),
            max: self.webhook_max_backoff.unwrap_or(max),
        }
    }
}

/// Starts a worker over the webhooks in `database`.
pub fn work(
    database: &Database,
    board: &Board,
    environment: &Environment,
    addresses: &Addresses,
    pace: &Pace,
) -> Result<WorkerHandle> {
    let timeout = pace
        .webhook_timeout
        .unwrap_or(HttpSettings::default().timeout);
    let transport = HttpTransport::new(HttpSettings {
        allow_private: addresses.allow_private_webhooks,
        timeout,
        ..HttpSettings::default()
    });
    let transport = transport.map_err(Refusal::Failed)?;
    let defaults = Settings::default();
    let keep = pace.webhook_keep.unwrap_or(defaults.keep);
    let settings = Settings {
        backoff: pace.backoff(),
        step: defaults.step.max(timeout.mul_f64(1.5)),
        keep,
        sweep: defaults.sweep.min(keep.max(Duration::from_secs(1))),
        ..defaults
    };
    let worker = Worker::new(
        database.webhooks(),
        Arc::new(OfflineMembers(board.clone())),
        transport,
        environment,
    );
    let worker = worker.settings(settings);
    Ok(worker.start())
}

/// Stops a worker. What is cut off counts as failed once its lease has run out.
pub async fn stop(worker: &WorkerHandle) {
    patiently("webhooks", worker.stop()).await;
}

/// Seconds, with a fraction or without: from a millisecond to a year.
fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds: Option<f64> = text.parse().ok();
    let fits = seconds.filter(|seconds| (0.001..=31_536_000.0).contains(seconds));
    fits.map(Duration::from_secs_f64)
        .ok_or("expected a number of seconds from 0.001 to 31536000")
}
