//! The routes of the server.

use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use forum_api::mcp::McpServer;
use forum_api::panel::{Panel, PanelSettings};
use forum_api::reference::ReferencePage;
use forum_api::{ForumApi, MalformedRequest};
use futures_util::future::join;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use tower::util::option_layer;
use tower::{Layer, Service};

use super::compression::{compress, compress_once};
use super::cors;
use super::metrics::{self, Metrics};
use super::page::{
    Asset, READER_SCRIPT, READER_STYLE, home_page, not_found_page, reader_script, reader_style,
};
use super::paths::{API, DOCS, MCP, PANEL};
use super::readiness::Readiness;
use crate::shutdown::Shutdown;

/// Paths of the reference page and its files below [`DOCS`].
const DOCS_FILES: [&str; 4] = ["", "/", "/style.css", "/script.js"];

/// Files of the panel below [`PANEL`], which are the same for all clients.
const PANEL_FILES: [&str; 2] = ["/style.css", "/script.js"];

/// The services behind the routes.
#[derive(Clone, Debug)]
pub struct ServerRouter {
    /// Serves everything below [`API`].
    pub api: ForumApi,
    /// Serves [`MCP`].
    pub mcp: Option<McpServer>,
    /// Origins whose pages may call the API.
    pub cors_origins: Vec<HeaderValue>,
    /// Serves everything below [`PANEL`].
    pub panel: Panel,
    /// Signs members in and out.
    pub sign_in: Router,
    /// Settings of the panel, with the header of the start page and the page for an unknown path.
    pub panel_settings: Arc<PanelSettings>,
    /// Serves the reference page at [`DOCS`].
    pub docs: ReferencePage,
    /// Serves `/health` and `/ready`, and `/metrics` unless another listener does.
    pub monitor: Monitor,
    pub serves_metrics: bool,
}

/// Health checks and metrics.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Serves `/metrics`.
    pub metrics: Metrics,
    /// Serves `/health` and `/ready`.
    pub readiness: Readiness,
    /// Not ready during the drain delay.
    pub shutdown: Shutdown,
}

impl Monitor {
    /// Builds the router of a listener for the operator.
    pub fn router(self) -> Router {
        compress(self.routes(true).fallback(not_found).method_not_allowed_fallback(not_found))
    }

    async fn is_ready(&self) -> bool {
        !self.shutdown.is_requested() && self.readiness.is_ready().await
    }

    fn routes(self, with_metrics: bool) -> Router {
        // Other methods are unknown paths: a webhook to a loopback address reads nothing here.
        let mut routes =
            Router::new().route("/health", get(health)).route("/ready", get(readiness));
        if with_metrics {
            routes = routes.route("/metrics", get(samples));
        }
        routes.with_state(self)
    }
}

impl ServerRouter {
    /// Builds the router. The API receives paths as they were sent, and reports malformed requests itself.
    pub fn router(self) -> Router {
        let pages = [
            asset("/", home_page(&self.panel_settings, self.mcp.is_some())),
            asset(READER_SCRIPT, reader_script()),
            asset(READER_STYLE, reader_style()),
        ];
        let docs = DOCS_FILES
            .map(|file| Router::new().route_service(&format!("{DOCS}{file}"), self.docs.clone()));
        let panel_files = PANEL_FILES
            .map(|file| Router::new().route_service(&format!("{PANEL}{file}"), self.panel.clone()));
        let missing = self.panel_settings;
        let unknown = move |request| unknown_path(missing, request);
        let routes = pages
            .into_iter()
            .chain(docs)
            .chain(panel_files)
            .map(compress_once)
            .fold(mount(Router::new(), PANEL, self.panel), Router::merge)
            .route("/openapi.json", get(openapi_document))
            .merge(self.sign_in)
            .merge(self.monitor.routes(self.serves_metrics))
            .fallback(unknown.clone())
            .method_not_allowed_fallback(unknown)
            .layer(from_fn(refuse_malformed));
        let cors = option_layer(cors::layer(&self.cors_origins));
        let rest = match self.mcp {
            // Some clients append a slash.
            Some(mcp) => [MCP, &format!("{MCP}/")]
                .into_iter()
                .fold(routes, |routes, path| routes.route_service(path, cors.layer(mcp.clone()))),
            None => routes,
        };
        let api = cors.layer(self.api);
        let document = Router::new().route_service(&format!("{API}/openapi.json"), api.clone());
        compress(mount(rest.merge(compress_once(document)), API, api))
    }
}

fn asset(path: &str, asset: Asset) -> Router {
    Router::new().route(path, get(move |headers: HeaderMap| ready(asset.respond(&headers))))
}

fn mount<S>(router: Router, path: &str, service: S) -> Router
where
    S: Service<Request, Error = std::convert::Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    router
        .route_service(path, service.clone())
        .route_service(&format!("{path}/"), service.clone())
        .route_service(&format!("{path}/{{*rest}}"), service)
}

async fn health(State(monitor): State<Monitor>) -> Response {
    check(monitor.readiness.is_healthy().await)
}

async fn readiness(State(monitor): State<Monitor>) -> Response {
    check(monitor.is_ready().await)
}

async fn samples(State(monitor): State<Monitor>) -> Response {
    let (is_ready, is_offline) = join(monitor.is_ready(), monitor.readiness.is_offline()).await;
    metrics::set(metrics::READY, usize::from(is_ready));
    if let Some(is_offline) = is_offline {
        metrics::set(metrics::OFFLINE, usize::from(is_offline));
    }
    let text = monitor.metrics.render(&monitor.readiness.board.database);
    respond(StatusCode::OK, metrics::CONTENT_TYPE, text)
}

async fn openapi_document() -> Redirect {
    Redirect::temporary(&format!("{API}/openapi.json"))
}

/// Returns a page to a browser, unless the path is below `/api`, and JSON to other clients.
async fn unknown_path(frame: Arc<PanelSettings>, request: Request) -> Response {
    let accepts_html = |value: &HeaderValue| {
        let media_types = value.as_bytes().split(|byte| b",;".contains(byte));
        media_types
            .map(<[u8]>::trim_ascii)
            .any(|media_type| media_type.eq_ignore_ascii_case(b"text/html"))
    };
    let is_browser = request.headers().get_all(ACCEPT).iter().any(accepts_html);
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") || !is_browser {
        return not_found().await;
    }
    not_found_page(&frame)
}

async fn not_found() -> Response {
    json(StatusCode::NOT_FOUND, r#"{"status":"not found"}"#)
}

async fn refuse_malformed(request: Request, next: Next) -> Response {
    if request.extensions().get::<MalformedRequest>().is_some() {
        return json(StatusCode::BAD_REQUEST, r#"{"status":"bad request"}"#);
    }
    next.run(request).await
}

fn check(passed: bool) -> Response {
    if passed {
        json(StatusCode::OK, r#"{"status":"ok"}"#)
    } else {
        json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"unavailable"}"#)
    }
}

fn json(status: StatusCode, body: &'static str) -> Response {
    respond(status, "application/json", body)
}

fn respond(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    (status, [(CONTENT_TYPE, content_type)], body.into()).into_response()
}
