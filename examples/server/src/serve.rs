//! `serve`: the API, the reference page, the control panel and the webhook worker, until the process is stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::panel::Panel;
use forum_api::rate_limit::Budget;
use forum_api::store::Stores;
use forum_api::swagger_ui::SwaggerUi;
use forum_api::{ApiSettings, ErrorMessages, ForumApi};
use tokio::net::TcpListener;

use crate::bootstrap;
use crate::cli::{Common, ServeArgs};
use crate::connect::{self, DatabaseUrl, Migrations};
use crate::http::connections::{self, Limits};
use crate::http::metrics::Metrics;
use crate::http::readiness::Readiness;
use crate::http::router::{API, DOCS, PANEL, ServerRouter};
use crate::keys::Secrets;
use crate::log::Log;
use crate::output::Output;
use crate::shutdown::Shutdown;
use crate::sign_in::SignIn;
use crate::startup_banner::StartupBanner;
use crate::webhooks::{self, refusal};

/// Serves the board. Everything that can fail is checked before a database is created.
pub async fn serve(common: &Common, options: &ServeArgs) -> BoardResult<()> {
    let _log = Log::start(options.log);
    let metrics = Metrics::install()?;
    let shutdown = Shutdown::listen().or_internal()?;
    let (listener, address) = listen(options.listen).await?;
    let url = DatabaseUrl::parse(&common.database, true)?;
    let key_file = options.webhooks.secret_key_file.as_deref();
    let mut secrets = Secrets::find(&common.database, key_file)?;
    let is_board = url.holds_board().await? == Some(true);
    let password = bootstrap::password(options, is_board)?;
    let budgets = connect::budgets(options.redis.as_deref()).await?;
    if is_board {
        url.check_key(&secrets).await?;
    }
    let (database, mut board) = url.open(options.language.into(), Migrations::Apply).await?;
    if !is_board {
        secrets = secrets.or_created(&common.database)?;
    }
    let base_url = options.base_url.clone();
    let base_url = base_url.unwrap_or_else(|| format!("http://{address}"));
    let environment = secrets
        .environment()
        .surface(options.surface.into())
        .public_origin(&base_url);
    let registry = options.webhooks.registry(&database, &environment);
    registry.check_key().await.map_err(refusal)?;
    let banner = StartupBanner {
        base_url: base_url.clone(),
        new: bootstrap::create(&database, &board, options, password).await?,
    };
    secrets.warn_of_plaintext(&common.database);
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
        rate_limits: budgets,
        ..database.stores()
    };
    let settings = settings(options);
    let sign_in = SignIn::new(
        board.clone(),
        settings.clone(),
        &base_url,
        stores.rate_limits.clone(),
    );
    let host = Arc::new(sign_in.clone());
    let panel = Panel::builder(host, stores.clone(), registry, &environment).base_path(PANEL);
    let host = Arc::new(board.clone());
    let api = ForumApi::builder(host, stores, &environment).settings(settings);
    let router = ServerRouter {
        api: api.build().or_internal()?,
        cors_origins: options.cors_origin.clone(),
        panel: panel.build().or_internal()?,
        sign_in,
        docs: SwaggerUi::new(DOCS, API).or_internal()?,
        metrics,
        readiness: Readiness::new(database.clone(), board.clone()),
    };
    Output::new(&banner, banner.info())?.print(common.json);

    let limits = Limits::new(connections::raise_file_limit(options.max_connections));
    let requests = async {
        let stopped = shutdown.clone().requested();
        let mut draining = connections::accept(listener, router.build(), limits, stopped).await;
        Shutdown::drain("requests", draining.finish()).await;
        draining.close().await;
    };
    let deliveries = async {
        shutdown.clone().requested().await;
        if let Some(worker) = worker {
            webhooks::stop(&worker).await;
        }
    };
    tokio::select! {
        _ = async { tokio::join!(requests, deliveries) } => {}
        () = board.keep_writing_hints() => {}
    }
    board.write_hints().await;
    database.close().await;
    Ok(())
}

async fn listen(address: SocketAddr) -> BoardResult<(TcpListener, SocketAddr)> {
    let refused = |error| BoardError::internal(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
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
    settings.trusted_proxies = options.trusted_proxies.clone();
    settings
}
