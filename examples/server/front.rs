//! What the server answers: the API, the control panel with its sign-in, and whether all is well.

use axum::body::Body;
use forum_api::ForumApi;
use forum_api::panel::Panel;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use tower::ServiceExt;

use crate::board::Board;
use crate::sign_in::SignIn;

/// Below which path the API answers.
pub const MOUNT: &str = "/api/v1";

/// Below which path the control panel answers.
pub const PANEL: &str = "/panel";

/// The routes.
#[derive(Clone, Debug)]
pub struct Front {
    /// Answers everything below [`MOUNT`].
    pub api: ForumApi,
    /// Answers everything below [`PANEL`].
    pub panel: Panel,
    /// Signs in and out.
    pub sign_in: SignIn,
    /// Tells whether its database is within reach.
    pub board: Board,
}

impl Front {
    /// Answers a request. The API sees its path as it was sent, for it judges odd ones itself.
    pub async fn answer(self, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path();
        if is_below(path, MOUNT) {
            let Ok(response) = self.api.oneshot(request).await;
            return response.map(Body::new);
        }
        if is_below(path, PANEL) {
            let Ok(response) = self.panel.oneshot(request).await;
            return response.map(Body::new);
        }
        if path == "/health" {
            return health(&self.board).await;
        }
        let signing = self.sign_in.answer(request).await;
        signing.unwrap_or_else(|| json(StatusCode::NOT_FOUND, r#"{"status":"not found"}"#))
    }
}

fn is_below(path: &str, mount: &str) -> bool {
    let rest = path.strip_prefix(mount);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

async fn health(board: &Board) -> Response<Body> {
    match board.is_there().await {
        Ok(true) => json(StatusCode::OK, r#"{"status":"ok"}"#),
        trouble => {
            tracing::error!(?trouble, "the board is out of reach");
            json(
                StatusCode::SERVICE_UNAVAILABLE,
                r#"{"status":"unavailable"}"#,
            )
        }
    }
}

fn json(status: StatusCode, body: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
