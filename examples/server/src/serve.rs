//! `serve`: the API, the reference page, the control panel and the webhook worker, until the process is stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{BoardResult, OrInternal};
use forum_api::mcp::McpServer;
use forum_api::panel::{Panel, PanelSettings};
use forum_api::rate_limit::Budget;
use forum_api::reference::ReferencePage;
use forum_api::store::{RateLimitStore, Stores};
use forum_api::{ApiSettings, ErrorMessages, ForumApi};

use crate::bootstrap;
use crate::cli::{Common, ServeArgs, VERSION, without_password};
use crate::connect::{self, DatabaseUrl};
use crate::database_lock::{DatabaseLock, ServerLock};
use crate::http::connections::{self, Limits};
use crate::http::listener::Listener;
use crate::http::metrics::Metrics;
use crate::http::readiness::Readiness;
use crate::http::router::{API, DOCS, MCP, Monitor, PANEL, ServerRouter};
use crate::keys::{self, WebhookCipher};
use crate::log::Log;
use crate::output::Output;
use crate::shutdown::Shutdown;
use crate::sign_in::SignIn;
use crate::startup_banner::StartupBanner;
use crate::webhooks::{self, refusal};

/// Checked parts of a server, created before the database.
pub struct ServerParts {
    url: DatabaseUrl,
    cipher: WebhookCipher,
    rate_limits: Arc<dyn RateLimitStore>,
}

impl ServerParts {
    /// Checks the options, and whether a missing database can be created.
    pub async fn new(common: &Common, options: &ServeArgs) -> BoardResult<Self> {
        let key_file = options.webhooks.secret_key_file.as_deref();
        let url = DatabaseUrl::parse(&common.database, &options.connections, true)?;
        url.check_file(&common.database)?;
        Ok(Self {
            url,
            cipher: WebhookCipher::find(&common.database, key_file)?,
            rate_limits: connect::rate_limits(options.redis.as_deref(), options.redis_timeout)
                .await?,
        })
    }
}

/// Serves the board. Everything that can fail is checked before a database is created.
pub async fn serve(common: &Common, options: &ServeArgs) -> BoardResult<()> {
    let _log = Log::start(options.log);
    let metrics = Metrics::install()?;
    let shutdown = Shutdown::listen(options.admin.drain_timeout).or_internal()?;
    let listener = Listener::bind(options.listen).await?;
    let operator = Listener::for_operator(options.admin).await?;
    let ServerParts {
        url,
        mut cipher,
        rate_limits,
    } = ServerParts::new(common, options).await?;
    let is_board = url.holds_board().await? == Some(true);
    let password = bootstrap::password(options, is_board)?;
    let _lock = DatabaseLock::shared_or_new(&common.database)?;
    if is_board {
        url.check_key(&cipher).await?;
    }
    let (database, mut board) = url.open(options.language.into()).await?;
    if !is_board {
        cipher = cipher.create_if_missing(&common.database)?;
    }
    let base_url = options.base_url.clone();
    let base_url = base_url.unwrap_or_else(|| listener.url());
    let Listener { listener, address } = listener;
    if options.base_url.is_none() && address.ip().is_unspecified() {
        tracing::warn!(
            base_url,
            "clients on other machines cannot use the published URLs; set --base-url"
        );
    }
    let environment = cipher
        .environment()
        .surface(options.surface.into())
        .public_origin(&base_url);
    let webhook_admin = options.webhooks.webhook_admin(&database, &environment);
    webhook_admin.check_key().await.map_err(refusal)?;
    let banner = StartupBanner {
        base_url: base_url.clone(),
        monitor_url: operator.as_ref().map_or(base_url.clone(), Listener::url),
        has_mcp: !options.no_mcp,
        new: bootstrap::create(&database, &board, options, password).await?,
    };
    if banner.new.is_some() {
        tracing::info!(
            database = without_password(&common.database),
            "database created"
        );
    }
    cipher.warn_about_plaintext(&common.database);
    keys::warn_about_weakness(&common.database, &options.webhooks);
    let _server = register(&common.database, address, options.redis.is_some());
    let worker = if options.no_worker {
        None
    } else {
        let (webhooks, retries) = (&options.webhooks, &options.retries);
        Some(webhooks::start(
            &database,
            &board,
            &environment,
            webhooks,
            retries,
        )?)
    };
    if let Some(worker) = worker.clone() {
        board = board.with_wake(move || worker.wake());
    }
    let stores = Stores {
        rate_limits,
        ..board.stores()
    };
    let settings = settings(options);
    let sign_in = SignIn::new(
        board.clone(),
        settings.clone(),
        &base_url,
        stores.rate_limits.clone(),
    );
    let host = Arc::new(sign_in.clone());
    let mut panel_settings = PanelSettings::default();
    panel_settings.base_path = PANEL.into();
    panel_settings.api_url = format!("{base_url}{API}");
    panel_settings.reference_url = DOCS.into();
    if !options.no_mcp {
        panel_settings.mcp_url = format!("{base_url}{MCP}");
    }
    panel_settings.trusted_proxies = options.trusted_proxies.clone();
    let panel =
        Panel::builder(host, stores.clone(), webhook_admin, &environment).settings(panel_settings);
    let host = Arc::new(board.clone());
    let api = ForumApi::builder(host, stores)
        .environment(&environment)
        .settings(settings);
    let api = api.build().or_internal()?;
    let monitor = Monitor {
        metrics,
        readiness: Readiness::new(database.clone(), board.clone()),
    };
    let mcp = match options.no_mcp {
        true => None,
        false => Some(
            McpServer::new(&api)
                .or_internal()?
                .allow_origins(options.cors_origin.clone()),
        ),
    };
    let router = ServerRouter {
        api: api.clone(),
        mcp,
        cors_origins: options.cors_origin.clone(),
        panel: panel.build().or_internal()?,
        sign_in,
        docs: ReferencePage::new(DOCS, API, &api.openapi()).or_internal()?,
        monitor: monitor.clone(),
        serves_metrics: operator.is_none(),
    };
    tracing::info!(
        version = VERSION,
        listen = %address,
        admin_listen = operator.as_ref().map(|operator| tracing::field::display(operator.address)),
        base_url,
        database = without_password(&common.database),
        redis = options.redis.as_deref().map(without_password),
        worker = worker.is_some(),
        "server started"
    );
    Output::new(&banner, banner.info())?.print(common.json);

    let limits = Limits::new(
        connections::raise_file_limit(options.max_connections),
        options.client_timeout,
    );
    let requests = connections::serve(listener, router.build(), limits, &shutdown);
    let deliveries = async {
        shutdown.clone().requested().await;
        if let Some(worker) = worker {
            webhooks::stop(&worker, &shutdown).await;
        }
    };
    let monitoring = Listener::serve(operator, monitor, &shutdown);
    tokio::select! {
        _ = async { tokio::join!(requests, deliveries, monitoring) } => {}
        () = board.flush_last_used_periodically() => {}
        () = api.flush_usage_periodically() => {}
    }
    if let Err(error) = api.flush_usage().await {
        tracing::error!(%error, "failed to record usage; counts lost");
    }
    board.flush_last_used().await;
    database.close().await;
    tracing::info!("server stopped");
    Ok(())
}

/// Logs a warning if another server uses the SQLite database and charges budgets of its own.
fn register(database: &str, address: SocketAddr, shares_limits: bool) -> Option<ServerLock> {
    let server = ServerLock::register(database, address);
    let server = server.inspect_err(|error| {
        tracing::warn!(%error, "failed to detect other servers of the database");
    });
    let server = server.ok().flatten();
    let other = server.as_ref().and_then(|server| server.other.as_deref());
    if let Some(other) = other.filter(|_| !shares_limits) {
        tracing::warn!(
            other,
            "another server uses the database: without a shared Redis, each charges its own budgets"
        );
    }
    server
}

fn settings(options: &ServeArgs) -> ApiSettings {
    let length = Duration::from_secs(options.window.into());
    let window = |units| Budget {
        units,
        window: length,
    };
    let mut settings = ApiSettings::default();
    settings.base_path = API.into();
    settings.error_messages = ErrorMessages::for_language(options.language.into());
    settings.token_budget = window(options.token_budget);
    settings.guest_budget = window(options.guest_budget);
    settings.request_timeout = options.request_timeout;
    settings.trusted_proxies = options.trusted_proxies.clone();
    settings
}
