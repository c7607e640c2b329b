//! `serve`: the API, the reference page, the control panel and the webhook worker, until the process is stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{BoardResult, OrInternal};
use forum_api::mcp::McpServer;
use forum_api::panel::{Panel, PanelSettings};
use forum_api::rate_limit::Budget;
use forum_api::reference::{ReferencePage, ReferenceSettings};
use forum_api::runtime::SystemClock;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::store::memory::MemoryRateLimitStore;
use forum_api::store::redis::RedisRateLimitStore;
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::webhook::AllowedAddresses;
use forum_api::webhook_admin::WebhookAdmin;
use forum_api::worker::WorkerHandle;
use forum_api::{ApiSettings, Environment, ErrorMessages, ForumApi, Language, event_feed};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::board::ReferenceBoard;
use crate::board::access::board_rules::BoardRules;
use crate::board::settings::SettingValues;
use crate::bootstrap::{self, Password};
use crate::certificates;
use crate::database_lock::{DatabaseLock, NodeLock};
use crate::http::client_stream::Timeouts;
use crate::http::connections::{self, Limits};
use crate::http::listener::Listener;
use crate::http::metrics::{self, Metrics};
use crate::http::paths::{self, API, DOCS, MCP, PANEL};
use crate::http::readiness::Readiness;
use crate::http::router::{Monitor, ServerRouter};
use crate::http::slots::{self, MaxConnections};
use crate::keys::{self, WebhookCipher};
use crate::log::Log;
use crate::options::{
    Common, DEFAULT_BOARD_NAME, DEFAULT_EVENT_RETENTION, ServeArgs, without_password,
};
use crate::output::Output;
use crate::redis_check;
use crate::server_parts::ServerParts;
use crate::shutdown::Shutdown;
use crate::sign_in::SignIn;
use crate::startup_banner::{NewBoard, StartupBanner};
use crate::webhooks::{self, refusal};

/// Serves the board until the process is stopped.
pub async fn serve(common: &Common, options: &ServeArgs) -> BoardResult<()> {
    let _log = Log::start(options.log);
    match Server::build(common, options).await? {
        Some(server) => server.run().await,
        None => Ok(()),
    }
}

/// Returns the OpenAPI document of a server with default options.
pub fn document(surface: Surface) -> BoardResult<Value> {
    let database = Database::open(&DatabasePath::Memory).or_internal()?;
    let board = ReferenceBoard::new(database, Arc::new(SystemClock), Language::English);
    let environment = Environment::default().surface(surface);
    let mut settings = ApiSettings::default();
    settings.board = SettingValues::default().describe();
    settings.board.name = DEFAULT_BOARD_NAME.into();
    let feed = event_feed(&board.database.webhooks(), DEFAULT_EVENT_RETENTION, &environment);
    let api = ForumApi::builder(Arc::new(board), Stores::in_memory())
        .environment(&environment)
        .settings(settings)
        .operation(feed)
        .build()
        .or_internal()?;
    Ok(api.openapi())
}

/// A server that listens and has not yet accepted a connection.
struct Server {
    shutdown: Shutdown,
    listener: TcpListener,
    operator: Option<Listener>,
    limits: Limits,
    board: ReferenceBoard,
    router: ServerRouter,
    worker: Option<WorkerHandle>,
    redis: Option<Arc<RedisRateLimitStore>>,
    /// URLs of the database, its replicas and Redis.
    urls: Vec<String>,
    /// Held while the server runs.
    _locks: (DatabaseLock, Option<NodeLock>),
}

impl Server {
    /// Binds the listeners, opens or creates the board, and starts the worker. Checks options, keys and connections before
    /// it creates a database. Prints the banner last. Returns `None` if the process is asked to stop before the
    /// database is open and migrated. Later signals do not end the start, because the banner of a new board shows the
    /// password.
    async fn build(common: &Common, options: &ServeArgs) -> BoardResult<Option<Self>> {
        let metrics = Metrics::install()?;
        let shutdown =
            Shutdown::listen(options.drain_delay, options.drain.drain_timeout).or_internal()?;
        let listener = Listener::bind(options.address.listen).await?;
        let operator = Listener::for_operator(options.admin).await?;
        let connect = ConnectedBoard::open(common, options);
        let Some(connected) = shutdown.unless_requested(connect).await.transpose()? else {
            return Ok(None);
        };
        let mut opened = OpenedBoard::open(common, options, &listener, connected).await?;
        let node_lock = register(&common.database, listener.address, options.redis.is_some());
        let worker = opened.start_worker(options)?;
        let monitor = Monitor {
            metrics,
            readiness: Readiness::new(opened.board.clone()),
            shutdown: shutdown.clone(),
        };
        let router = opened.router(options, monitor, operator.is_none()).await?;
        let limits = connection_limits(options);
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            listen = %listener.address,
            admin_listen = operator.as_ref().map(|operator| tracing::field::display(operator.address)),
            base_url = opened.base_url,
            database = without_password(&common.database),
            replicas = options.database_replica.len(),
            redis = options.redis.as_deref().map(without_password),
            worker = worker.is_some(),
            "server started"
        );
        let banner = StartupBanner {
            monitor_url: operator.as_ref().map_or(opened.base_url.clone(), Listener::url),
            base_url: opened.base_url,
            has_mcp: !options.no_mcp,
            database: data_location(&common.database),
            new: opened.new,
        };
        // The server starts even if stdout cannot be written, for example to a file on a full disk.
        drop(Output::new(&banner, banner.info())?.print(common.json));
        Ok(Some(Self {
            shutdown,
            listener: listener.listener,
            operator,
            limits,
            board: opened.board,
            router,
            worker,
            redis: opened.redis,
            urls: [&common.database]
                .into_iter()
                .chain(&options.database_replica)
                .chain(&options.redis)
                .cloned()
                .collect(),
            _locks: (opened.lock, node_lock),
        }))
    }

    /// Serves until the process is asked to stop, and writes what is collected in memory.
    async fn run(self) -> BoardResult<()> {
        let shutdown = &self.shutdown;
        let monitoring = Listener::serve(self.operator, self.router.monitor.clone(), shutdown);
        let api = self.router.api.clone();
        let router = self.router.router();
        let requests = connections::serve(self.listener, router, self.limits, shutdown);
        let deliveries = async {
            shutdown.clone().wait_for_stop().await;
            if let Some(worker) = self.worker {
                webhooks::stop(&worker, shutdown).await;
            }
        };
        let urls: Vec<_> = self.urls.iter().map(String::as_str).collect();
        tokio::select! {
            _ = async { tokio::join!(requests, deliveries, monitoring) } => {}
            () = certificates::record_periodically(&urls) => {}
            () = redis_check::record_periodically(self.redis.as_deref()) => {}
            () = self.board.flush_last_seen_periodically() => {}
            () = self.board.run_batches_periodically() => {}
            () = api.flush_usage_periodically() => {}
        }
        let record = async {
            // Together, so that they wait for a locked database only once.
            let (recorded, ()) = tokio::join!(api.flush_usage(), self.board.flush_last_seen());
            if let Err(error) = recorded {
                tracing::error!(%error, "failed to record usage; counts lost");
            }
        };
        shutdown.drain("recording of usage and last-seen times", record).await;
        self.board.database.close().await;
        tracing::info!("server stopped");
        Ok(())
    }
}

/// The database of a board that exists, or that is about to be created.
struct ConnectedBoard {
    board: ReferenceBoard,
    cipher: WebhookCipher,
    redis: Option<Arc<RedisRateLimitStore>>,
    /// Password of the administrator of a new board; `None` for an existing board.
    password: Option<Password>,
    lock: DatabaseLock,
}

impl ConnectedBoard {
    /// Checks options, keys and connections, and opens the database. Migrates an existing board. Can wait without limit for
    /// standard input, and for a migration of Postgres.
    async fn open(common: &Common, options: &ServeArgs) -> BoardResult<Self> {
        let ServerParts { url, replicas, cipher, redis } =
            ServerParts::new(common, options).await?;
        let is_board = url.holds_board(&common.database).await? == Some(true);
        let password = bootstrap::password(options, is_board).await?;
        let lock = DatabaseLock::shared_or_new(&common.database)?;
        if is_board {
            url.check_key(&cipher).await?;
        }
        let board = url.open(options.language.into()).await?.with_replicas(replicas).await?;
        if is_board {
            board.migrate().await?;
        }
        Ok(Self { board, cipher, redis, password, lock })
    }
}

/// An open board, and what the services over it share.
struct OpenedBoard {
    board: ReferenceBoard,
    /// URL under which the server is published.
    base_url: String,
    environment: Environment,
    webhook_admin: WebhookAdmin,
    /// Addresses to which webhooks can be sent.
    allowed: AllowedAddresses,
    /// `None` for rate limits in memory.
    redis: Option<Arc<RedisRateLimitStore>>,
    /// Sign-in data; `None` if the board existed.
    new: Option<NewBoard>,
    lock: DatabaseLock,
}

impl OpenedBoard {
    /// Opens the board, or creates it.
    async fn open(
        common: &Common,
        options: &ServeArgs,
        listener: &Listener,
        connected: ConnectedBoard,
    ) -> BoardResult<Self> {
        let ConnectedBoard { board, mut cipher, redis, password, lock } = connected;
        if password.is_some() {
            cipher = cipher.create_if_missing(&common.database)?;
        }
        let base_url = published_url(options, listener);
        // The default URL has a loopback address also if other machines can reach the server.
        let is_public = options.base_url.is_none() && listener.address.ip().is_unspecified();
        let local_url = if is_public { "" } else { &base_url };
        let allowed = options.webhooks.allowed_addresses(local_url);
        let pages = paths::web_urls(&base_url);
        let environment = cipher
            .environment()
            .surface(options.surface.into())
            .public_origin(&base_url)
            .web_urls(&pages)
            .thread_since_overlap(board.database.since_overlap());
        let webhook_admin = webhooks::admin(&board.database, &environment, allowed);
        webhook_admin.check_key().await.map_err(refusal)?;
        let new = match password {
            Some(password) => bootstrap::create(&board, options, password).await?,
            None => None,
        };
        if new.is_some() {
            tracing::info!(database = without_password(&common.database), "database created");
        }
        cipher.warn_about_plaintext(&common.database);
        keys::warn_about_weakness(&common.database, &options.webhooks);
        if let Err(error) = board.record_base_url(local_url).await {
            tracing::warn!(%error, "failed to record the public URL; commands and workers do not use it");
        }
        let mut board = board.with_web_urls(&pages);
        if !options.retries.event_retention.is_zero() {
            board = board.with_feed();
        }
        Ok(Self { board, base_url, environment, webhook_admin, allowed, redis, new, lock })
    }

    /// Starts the worker, which the board then notifies of new events; `None` if an option omits it.
    fn start_worker(&mut self, options: &ServeArgs) -> BoardResult<Option<WorkerHandle>> {
        if options.no_worker {
            return Ok(None);
        }
        let Self { board, environment, allowed, .. } = self;
        let worker = webhooks::start(board, environment, *allowed, &options.retries)?;
        let notified = worker.clone();
        self.board = self.board.clone().with_wake(move || notified.wake());
        Ok(Some(worker))
    }

    /// Builds the API and the pages.
    async fn router(
        &self,
        options: &ServeArgs,
        monitor: Monitor,
        serves_metrics: bool,
    ) -> BoardResult<ServerRouter> {
        let Self { board, base_url, environment, webhook_admin, redis, .. } = self;
        let mut stores = board.database.stores();
        stores.rate_limits = match redis.clone() {
            Some(redis) => redis,
            None => Arc::new(MemoryRateLimitStore::default()),
        };
        let mut settings = api_settings(options);
        let rules = board.read(|connection| Box::pin(BoardRules::load(connection))).await?;
        settings.board = rules.settings.describe();
        settings.board.name = options.board_name.clone();
        settings.board.token_source = token_source(&options.token_source);
        let sign_in = SignIn::new(
            board.clone(),
            settings.clone(),
            panel_settings(options, base_url),
            base_url,
            stores.rate_limits.clone(),
        );
        let panel = Panel::builder(sign_in.clone(), stores.clone(), environment)
            .webhooks(webhook_admin.clone())
            .settings(panel_settings(options, base_url));
        let mut api = ForumApi::builder(Arc::new(board.clone()), stores)
            .environment(environment)
            .settings(settings);
        let retention = options.retries.event_retention;
        if !retention.is_zero() {
            api = api.operation(event_feed(&board.database.webhooks(), retention, environment));
        }
        let api = api.build().or_internal()?;
        Ok(ServerRouter {
            mcp: mcp(options, &api)?,
            docs: reference(options, &api)?,
            api,
            cors_origins: options.cors_origin.clone(),
            panel: panel.build().or_internal()?,
            sign_in: sign_in.routes(),
            panel_settings: Arc::new(panel_settings(options, base_url)),
            monitor,
            serves_metrics,
        })
    }
}

/// Returns the limits of connections. Raises the limit of open files to their number.
fn connection_limits(options: &ServeArgs) -> Limits {
    let limits = Limits {
        max: MaxConnections {
            all: slots::raise_file_limit(options.max_connections),
            per_address: options.max_connections_per_address,
            trusted_proxies: options.trusted_proxies.clone(),
        },
        timeouts: Timeouts { client: options.client_timeout, idle: options.idle_timeout },
    };
    metrics::set(metrics::MAX_CONNECTIONS, limits.max.all);
    limits
}

/// Returns the published URL of the server. Logs a warning if it is the URL of an unspecified address.
fn published_url(options: &ServeArgs, listener: &Listener) -> String {
    if let Some(base_url) = &options.base_url {
        return base_url.clone();
    }
    let base_url = listener.url();
    if listener.address.ip().is_unspecified() {
        tracing::warn!(
            base_url,
            "clients on other machines cannot use the published URLs; set --base-url"
        );
    }
    base_url
}

fn mcp(options: &ServeArgs, api: &ForumApi) -> BoardResult<Option<McpServer>> {
    if options.no_mcp {
        return Ok(None);
    }
    let server = McpServer::new(api).or_internal()?;
    Ok(Some(server.allow_origins(options.cors_origin.clone())))
}

fn reference(options: &ServeArgs, api: &ForumApi) -> BoardResult<ReferencePage> {
    let mut settings = ReferenceSettings::default();
    settings.board_name = options.board_name.clone();
    settings.accent_color = options.accent_color.clone().unwrap_or_default();
    settings.board_url = "/".into();
    settings.panel_url = PANEL.into();
    settings.base_path = DOCS.into();
    Ok(ReferencePage::new(api, settings).or_internal()?)
}

/// Returns the path of a SQLite database, or the URL of another one without its password.
fn data_location(database: &str) -> String {
    match database.strip_prefix("sqlite:") {
        Some(":memory:") => "in memory; it is lost when the server stops".into(),
        Some(path) => {
            std::path::absolute(path).map_or(path.into(), |path| path.display().to_string())
        }
        None => without_password(database).to_string(),
    }
}

fn panel_settings(options: &ServeArgs, base_url: &str) -> PanelSettings {
    let mut settings = PanelSettings::default();
    settings.base_path = PANEL.into();
    settings.api_url = format!("{base_url}{API}");
    settings.reference_url = DOCS.into();
    settings.board_name = options.board_name.clone();
    settings.board_url = "/".into();
    settings.accent_color = options.accent_color.clone().unwrap_or_default();
    settings.other_tasks = [
        ("members", "forum-server member"),
        ("board settings", "forum-server setting"),
        ("posts", "forum-server post"),
        ("threads", "forum-server thread"),
        ("backups", "forum-server backup"),
    ]
    .map(|(task, command)| (task.to_owned(), command.to_owned()))
    .into();
    if !options.no_mcp {
        settings.mcp_url = format!("{base_url}{MCP}");
    }
    settings.trusted_proxies = options.trusted_proxies.clone();
    settings
}

/// Logs a warning if another server uses the SQLite database and charges budgets of its own.
fn register(database: &str, address: SocketAddr, shares_limits: bool) -> Option<NodeLock> {
    let server = NodeLock::register(database, Some(address))
        .inspect_err(|error| {
            tracing::warn!(%error, "failed to detect other servers of the database");
        })
        .ok()
        .flatten();
    let other = server.as_ref().and_then(|server| server.other.as_deref());
    if let Some(other) = other.filter(|_| !shares_limits) {
        tracing::warn!(
            other,
            "another server uses the database: without a shared Redis, each charges its own budgets"
        );
    }
    server
}

/// Returns the sentence of the OpenAPI document about tokens.
fn token_source(stated: &str) -> String {
    if ["https://", "http://"].iter().any(|scheme| stated.starts_with(scheme)) {
        format!(
            "Administrators issue tokens in the control panel under API tokens. If you are not an administrator, get a token at <{stated}>."
        )
    } else {
        stated.into()
    }
}

fn api_settings(options: &ServeArgs) -> ApiSettings {
    let length = Duration::from_secs(options.window.into());
    let window = |units| Budget { units, window: length };
    let mut settings = ApiSettings::default();
    settings.base_path = API.into();
    settings.error_messages = ErrorMessages::for_language(options.language.into());
    settings.token_budget = window(options.token_budget);
    settings.guest_budget = window(options.guest_budget);
    settings.request_timeout = options.request_timeout;
    settings.trusted_proxies = options.trusted_proxies.clone();
    settings
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn parse(arguments: &[&str]) -> ServeArgs {
        let command = ServeArgs::augment_args(clap::Command::new("serve").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).unwrap();
        ServeArgs::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn the_panel_has_the_settings_of_the_options() {
        let options = parse(&[
            "--board-name",
            "Tea",
            "--accent-color",
            "#c2410c",
            "--trusted-proxies",
            "10.0.0.0/8",
        ]);
        let settings = panel_settings(&options, "https://board.example");
        assert_eq!(
            [
                &settings.base_path,
                &settings.api_url,
                &settings.reference_url,
                &settings.mcp_url,
                &settings.board_name,
                &settings.board_url,
                &settings.accent_color,
            ],
            [
                "/panel",
                "https://board.example/api/v1",
                "/docs",
                "https://board.example/mcp",
                "Tea",
                "/",
                "#c2410c",
            ]
        );
        let tasks = settings.other_tasks.iter().map(|(task, command)| format!("{task}: {command}"));
        let expected = [
            "members: forum-server member",
            "board settings: forum-server setting",
            "posts: forum-server post",
            "threads: forum-server thread",
            "backups: forum-server backup",
        ];
        assert_eq!(tasks.collect::<Vec<_>>(), expected);
        assert_eq!(settings.trusted_proxies, options.trusted_proxies);
        let without = panel_settings(&parse(&["--no-mcp"]), "https://board.example");
        assert_eq!([without.mcp_url, without.accent_color], ["", ""]);
    }

    #[test]
    fn the_api_has_the_limits_of_the_options() {
        let options = parse(&[
            "--token-budget",
            "7",
            "--guest-budget",
            "3",
            "--window",
            "60",
            "--request-timeout",
            "9",
            "--trusted-proxies",
            "10.0.0.0/8",
        ]);
        let settings = api_settings(&options);
        let budgets = [settings.token_budget, settings.guest_budget];
        let minute = Duration::from_secs(60);
        assert_eq!(budgets.map(|budget| (budget.units, budget.window)), [(7, minute), (3, minute)]);
        assert_eq!(settings.request_timeout, Duration::from_secs(9));
        assert_eq!(settings.trusted_proxies, options.trusted_proxies);
        assert_eq!(settings.base_path, "/api/v1");
    }

    #[test]
    fn the_database_is_shown_by_its_path_or_without_its_password() {
        for (database, expected) in [
            ("sqlite::memory:", "in memory; it is lost when the server stops"),
            ("sqlite:/var/lib/forum.db", "/var/lib/forum.db"),
            ("postgres://forum:secret@h/forum", "postgres://forum:***@h/forum"),
        ] {
            assert_eq!(data_location(database), expected);
        }
    }

    #[test]
    fn a_url_or_a_sentence_states_where_to_get_a_token() {
        let administrators = "Administrators issue tokens in the control panel under API tokens. If you are not an administrator, get a token at";
        for url in ["https://board.example/ask", "http://localhost/ask"] {
            assert_eq!(token_source(url), format!("{administrators} <{url}>."));
        }
        assert_eq!(token_source("Ask in the lounge."), "Ask in the lounge.");
    }
}
