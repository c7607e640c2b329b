//! What the server answers: the API, and beside it its reference, the control panel with its sign-in, what was counted, and
//! whether all is well.

use axum::body::Body;
use forum_api::Malformed;
use forum_api::panel::Panel;
use forum_api::swagger_ui::Docs;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use tower::ServiceExt;

use crate::cors;
use crate::metrics::{self, Metrics};
use crate::readiness::Readiness;
use crate::sign_in::SignIn;

/// Below which path the API answers.
pub const MOUNT: &str = "/api/v1";

/// Below which path the control panel answers.
pub const PANEL: &str = "/panel";
/// Below which path the reference answers.
pub const DOCS: &str = "/docs";

/// The routes.
#[derive(Clone, Debug)]
pub struct Front {
    /// Answers everything below [`MOUNT`].
    pub api: cors::Api,
    /// Answers everything below [`PANEL`].
    pub panel: Panel,
    /// Signs in and out.
    pub sign_in: SignIn,
    /// Answers everything below [`DOCS`].
    pub docs: Docs,
    /// Knows what was counted and timed.
    pub metrics: Metrics,
    /// Answers `/health` and `/ready`.
    pub readiness: Readiness,
}

impl Front {
    /// Answers a request. The API sees its path as it was sent, for it judges odd ones itself.
    pub async fn answer(self, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path();
        if is_below(MOUNT, path) {
            let Ok(response) = self.api.oneshot(request).await;
            return response.map(Body::new);
        }
        if request.extensions().get::<Malformed>().is_some() {
            return json(StatusCode::BAD_REQUEST, r#"{"status":"bad request"}"#);
        }
        if is_below(DOCS, path) {
            let Ok(response) = self.docs.oneshot(request).await;
            return response.map(Body::new);
        }
        if is_below(PANEL, path) {
            let Ok(response) = self.panel.oneshot(request).await;
            return response.map(Body::new);
        }
        match path {
            "/health" => well(self.readiness.is_healthy().await),
            "/ready" => well(self.readiness.is_ready().await),
            "/metrics" => self.counted(),
            _ => self.signing(request).await,
        }
    }

    async fn signing(&self, request: Request<Body>) -> Response<Body> {
        let signing = self.sign_in.answer(request).await;
        signing.unwrap_or_else(|| json(StatusCode::NOT_FOUND, r#"{"status":"not found"}"#))
    }

    fn counted(&self) -> Response<Body> {
        match self.metrics.text() {
            Ok(text) => answer(StatusCode::OK, metrics::KIND, text),
            Err(fault) => {
                tracing::error!(%fault, "what was counted could not be written");
                json(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    r#"{"status":"unavailable"}"#,
                )
            }
        }
    }
}

fn is_below(mount: &str, path: &str) -> bool {
    let below = path.strip_prefix(mount);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn well(is_well: bool) -> Response<Body> {
    if is_well {
        return json(StatusCode::OK, r#"{"status":"ok"}"#);
    }
    json(
        StatusCode::SERVICE_UNAVAILABLE,
        r#"{"status":"unavailable"}"#,
    )
}

fn json(status: StatusCode, body: &'static str) -> Response<Body> {
    answer(status, "application/json", body)
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
