//! Serving, until the process is told to stop.

use forum_api::Environment;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forum_api::ForumApi;
use forum_api::host::{Refusal, Result};
use forum_api::panel::Panel;
use forum_api::rate_limit::Window;
use forum_api::store::Stores;
use forum_api::swagger_ui::Docs;
use forum_api::webhook_admin::Registry;
use forum_api::worker::WorkerHandle;
use forum_api::{Messages, Settings};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

use crate::board::Board;
use crate::board::db::Database;
use crate::cli::{self, Common};
use crate::commands::webhook::refusal;
use crate::connections::{self, Limits};
use crate::front::{DOCS, Front, MOUNT, PANEL};
use crate::greeting::Greeting;
use crate::keys::Secrets;
use crate::metrics::Metrics;
use crate::open::{self, Migrations, Place};
use crate::output::Output;
use crate::readiness::Readiness;
use crate::sign_in::SignIn;
use crate::stop::{Stop, patiently};
use crate::{beginning, cors, log, webhooks};

/// Serves the board, and prints where once it listens.
pub async fn serve(common: &Common, options: &cli::Serve) -> Result<()> {
    let _log = log::start(options.log, options.log_panics);
    let metrics = Metrics::install()?;
    let stop = Stop::listen().map_err(Refusal::failed)?;
    let (listener, address) = listen(options.listen).await?;
    let place = Place::named(&common.database, true)?;
    let secrets = Secrets::find(
        &common.database,
        options.addresses.secret_key_file.as_deref(),
    )?;
    let is_board = place.holds_board().await? == Some(true);
    let password = beginning::password(options, is_board)?;
    let budgets = open::budgets(options.redis.as_deref()).await?;
    if is_board {
        place.check_key(&secrets).await?;
    }
    let (database, board) = place
        .open(options.language.into(), Migrations::Apply)
        .await?;
    let secrets = if is_board {
        secrets
    } else {
        secrets.or_created(&common.database)?
    };
    let base_url = options
        .base_url
        .clone()
        .unwrap_or_else(|| format!("http://{address}"));
    let environment = secrets
        .environment()
        .surface(options.surface.into())
        .public_origin(&base_url);
    let registry = options.addresses.registry(&database, &environment);
    registry.check_key().await.map_err(refusal)?;
    let greeting = Greeting {
        base_url,
        new: beginning::begin(&database, &board, options, password).await?,
    };
    secrets.warn_of_plaintext(&common.database);
    let worker = worker(&database, &board, &environment, options)?;
    let stores = Stores {
        budgets,
        ..database.stores()
    };
    let settings = settings(options);
    let board = match worker.clone() {
        Some(worker) => board.with_wake(move || worker.wake()),
        None => board,
    };
    let sign_in = SignIn::new(
        board.clone(),
        settings.clone(),
        &greeting.base_url,
        stores.budgets.clone(),
    );
    let front = Front {
        panel: panel(&stores, registry, sign_in.clone(), &environment),
        api: cors::layered(
            api(stores, board.clone(), settings, &environment),
            &options.cors_origin,
        ),
        sign_in,
        docs: Docs::new(DOCS, MOUNT),
        metrics,
        readiness: Readiness::new(database.clone(), board.clone()),
    };
    Output::new(&greeting, greeting.keys())?.print(common.json);
    let stopped = stop.clone().told();
    let work = async {
        stopped.await;
        if let Some(worker) = worker {
            webhooks::stop(&worker).await;
        }
    };
    let served = async { tokio::join!(run(listener, front, options.max_connections, stop), work) };
    tokio::select! {
        _ = served => {}
        () = board.keep_writing_hints() => {}
    }
    board.write_hints().await;
    database.close().await;
    Ok(())
}

/// What sends webhooks, unless others do.
fn worker(
    database: &Database,
    board: &Board,
    environment: &Environment,
    options: &cli::Serve,
) -> Result<Option<WorkerHandle>> {
    if options.no_worker {
        return Ok(None);
    }
    let (addresses, pace) = (&options.addresses, &options.pace);
    webhooks::work(database, board, environment, addresses, pace).map(Some)
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let refused = |error| Refusal::failed(format!("{address} cannot be listened on: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}

fn settings(options: &cli::Serve) -> Settings {
    let length = Duration::from_secs(options.window.into());
    Settings {
        mount: MOUNT.into(),
        messages: Messages::of(options.language.into()),
        token_window: Window {
            units: options.token_budget,
            length,
        },
        guest_window: Window {
            units: options.guest_budget,
            length,
        },
        trusted_proxies: options.trusted_proxies.clone(),
        ..Settings::default()
    }
}

fn api(stores: Stores, board: Board, settings: Settings, environment: &Environment) -> ForumApi {
    let board = Arc::new(board);
    ForumApi::builder(board.clone(), board, stores, environment)
        .settings(settings)
        .build()
}

fn panel(stores: &Stores, registry: Registry, sign_in: SignIn, environment: &Environment) -> Panel {
    let settings = forum_api::panel::Settings {
        mount: PANEL.into(),
        ..forum_api::panel::Settings::default()
    };
    Panel::builder(Arc::new(sign_in), stores.clone(), registry, environment)
        .settings(settings)
        .build()
}

/// Answers until told to stop, then finishes what is in flight.
async fn run(listener: TcpListener, front: Front, max_connections: usize, stop: Stop) {
    let service = service_fn(move |request: Request<Body>| {
        let front = front.clone();
        async move { Ok::<_, Infallible>(front.answer(request).await) }
    });
    let limits = Limits::new(connections::raise_file_limit(max_connections));
    let mut draining = connections::accept(listener, service, limits, stop.told()).await;
    patiently("requests", draining.finish()).await;
    draining.close().await;
}
