//! Serving, until the process is told to stop.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::ServiceExt;
use axum::body::Body;
use axum::extract::ConnectInfo;
use forum_api::ForumApi;
use forum_api::budget::Window;
use forum_api::clock::TokioRuntime;
use forum_api::host::{Refusal, Result};
use forum_api::store::Stores;
use forum_api::store::sqlite::{Database, SqliteIdempotency, SqliteTokens};
use forum_api::{Messages, Settings};
use http::Request;
use tokio::net::TcpListener;
use tower::util::option_layer;
use tower::{Layer, service_fn};

use crate::board::Board;
use crate::cli::{self, Common};
use crate::front::{Front, MOUNT};
use crate::greeting::Greeting;
use crate::output::Output;
use crate::stop::Stop;
use crate::{beginning, cors, log, open};

/// How long what is in flight may take when the process is told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves the board, and prints where once it listens.
pub async fn serve(common: &Common, options: &cli::Serve) -> Result<()> {
    log::start(options.log);
    let stop = Stop::listen().map_err(Refusal::failed)?;
    let (listener, address) = listen(options.listen).await?;
    let (database, board) = open::to_serve(&common.database, options.language.into())?;
    let greeting = Greeting {
        base_url: options
            .base_url
            .clone()
            .unwrap_or_else(|| format!("http://{address}")),
        new: beginning::begin(&database, &board, options).await?,
    };
    let settings = settings(options, &greeting.base_url);
    let front = Front {
        api: api(&database, board.clone(), settings),
        board,
    };
    Output::new(&greeting, greeting.keys())?.print(common.json);
    run(listener, front, options, stop).await?;
    database.close().await;
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let refused = |error| Refusal::failed(format!("{address} cannot be listened on: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}

fn settings(options: &cli::Serve, base_url: &str) -> Settings {
    let length = Duration::from_secs(options.window.into());
    Settings {
        surface: options.surface.into(),
        mount: MOUNT.into(),
        base_url: base_url.into(),
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

fn api(database: &Database, board: Board, settings: Settings) -> ForumApi {
    let stores = Stores {
        tokens: Arc::new(SqliteTokens::new(database.clone())),
        idempotency: Arc::new(SqliteIdempotency::new(database.clone())),
        ..Stores::in_memory()
    };
    let board = Arc::new(board);
    ForumApi::builder(board.clone(), board, stores, TokioRuntime)
        .settings(settings)
        .peer(|extensions| {
            extensions
                .get()
                .map(|ConnectInfo::<SocketAddr>(peer)| peer.ip())
        })
        .build()
}

/// Answers until told to stop, then finishes what is in flight.
async fn run(listener: TcpListener, front: Front, options: &cli::Serve, stop: Stop) -> Result<()> {
    let front = service_fn(move |request: Request<Body>| {
        let front = front.clone();
        async move { Ok::<_, Infallible>(front.answer(request).await) }
    });
    let service = option_layer(cors::layer(&options.cors_origin)).layer(front);
    let service = service.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(stop.clone().told());
    let too_late = async {
        stop.told().await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        served = serving => served.map_err(Refusal::failed),
        () = too_late => {
            tracing::warn!("requests were cut off that took longer than 10 s to finish");
            Ok(())
        }
    }
}
