//! Command `worker`.

use std::time::Duration;

use clap::Args;
use forum_api::host::{BoardResult, OrInternal};

use crate::certificates;
use crate::connect;
use crate::database_lock::{DatabaseLock, NodeLock};
use crate::http::listener::Listener;
use crate::http::metrics::Metrics;
use crate::http::readiness::Readiness;
use crate::http::router::Monitor;
use crate::keys::{self, WebhookCipher};
use crate::log::Log;
use crate::options::{
    AdminOptions, Common, DatabaseOptions, DrainOptions, LogOptions, RetryOptions, WebhookOptions,
    base_url, without_password,
};
use crate::output::Output;
use crate::shutdown::Shutdown;
use crate::webhooks::{self, refusal};

/// Sends webhooks, concurrently with any number of servers and other workers.
#[derive(Debug, Args)]
pub struct WorkerCommand {
    #[command(flatten)]
    admin: AdminOptions,
    #[command(flatten)]
    drain: DrainOptions,
    #[command(flatten)]
    connections: DatabaseOptions,
    #[command(flatten)]
    webhooks: WebhookOptions,
    /// Public URL of the server; webhooks to loopback addresses are allowed if its host is a loopback address
    /// [default: the URL of the server that was started last]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base_url: Option<String>,
    #[command(flatten)]
    retries: RetryOptions,
    #[command(flatten)]
    log: LogOptions,
}

impl WorkerCommand {
    /// Sends webhooks until the process is stopped.
    pub async fn run(self, common: &Common) -> BoardResult<Output> {
        let _log = Log::start(self.log);
        let metrics = Metrics::install()?;
        let shutdown = Shutdown::listen(Duration::ZERO, self.drain.drain_timeout).or_internal()?;
        let operator = Listener::for_operator(self.admin).await?;
        let url = &*common.database;
        let cipher = WebhookCipher::find(url, self.webhooks.secret_key_file.as_deref())?;
        let _locks = (DatabaseLock::shared(url)?, NodeLock::register(url, None).ok());
        // A migration of Postgres can wait without limit.
        let open = connect::open_migrated(url, &self.connections, &cipher);
        let Some(board) = shutdown.unless_requested(open).await.transpose()? else {
            return Output::message("");
        };
        let environment = cipher.environment();
        let base_url = match self.base_url {
            Some(base_url) => base_url,
            None => board.base_url().await?.unwrap_or_default(),
        };
        let allowed = self.webhooks.allowed_addresses(&base_url);
        let admin = webhooks::admin(&board.database, &environment, allowed);
        admin.check_key().await.map_err(refusal)?;
        cipher.warn_about_plaintext(url);
        keys::warn_about_weakness(url, &self.webhooks);
        let worker = webhooks::start(&board, &environment, allowed, &self.retries)?;
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            admin_listen =
                operator.as_ref().map(|operator| tracing::field::display(operator.address)),
            database = without_password(url),
            "webhook worker started"
        );
        let monitor = Monitor {
            metrics,
            readiness: Readiness::new(board.clone()).with_worker(worker.clone()),
            shutdown: shutdown.clone(),
        };
        let deliveries = async {
            shutdown.clone().wait_for_stop().await;
            webhooks::stop(&worker, &shutdown).await;
        };
        let monitoring = Listener::serve(operator, monitor, &shutdown);
        let urls = [url];
        tokio::select! {
            _ = async { tokio::join!(deliveries, monitoring) } => {}
            () = certificates::record_periodically(&urls) => {}
        }
        board.database.close().await;
        tracing::info!("webhook worker stopped");
        Output::message("")
    }
}
