//! `worker`: sends webhooks, and nothing else.

use clap::Args;
use forum_api::host::{Refusal, Result};

use super::webhook::refusal;
use crate::board::Board;
use crate::board::db::Database;
use crate::cli::{Log, Serve};
use crate::keys::Secrets;
use crate::log;
use crate::output::Output;
use crate::stop::Stop;
use crate::webhooks::{Addresses, Pace, stop, work};

/// Sends webhooks beside any number of servers and workers.
#[derive(Debug, Args)]
pub struct Worker {
    #[command(flatten)]
    addresses: Addresses,
    #[command(flatten)]
    pace: Pace,
    /// How to write the log to standard error; RUST_LOG filters it
    #[arg(long, value_enum)]
    log: Option<Log>,
    /// Log formatted panic messages in full; they may quote posts and messages
    #[arg(long)]
    log_panics: bool,
}

impl Worker {
    /// Works until the process is told to stop. `before` is what stood before the command.
    pub async fn run(
        self,
        url: &str,
        database: &Database,
        board: &Board,
        before: &Serve,
    ) -> Result<Output> {
        let _log = log::start(
            self.log.unwrap_or(before.log),
            self.log_panics || before.log_panics,
        );
        let told = Stop::listen().map_err(Refusal::failed)?.told();
        let addresses = self.addresses.or(&before.addresses);
        let pace = self.pace.or(&before.pace);
        let secrets = Secrets::find(url, addresses.secret_key_file.as_deref())?;
        let environment = secrets.environment();
        let registry = addresses.registry(database, &environment);
        registry.check_key().await.map_err(refusal)?;
        secrets.warn_of_plaintext(url);
        let worker = work(database, board, &environment, &addresses, &pace)?;
        tracing::info!("webhooks are sent");
        told.await;
        stop(&worker).await;
        Output::done()
    }
}
