//! The service of the reference page and its assets.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use tower_service::Service;

use super::asset::{self, Asset};
use crate::build_error::BuildError;
use crate::http_util::{ResponseBody, ResponseFuture, page_headers, parse_base_path, respond};

/// Allows the page to load its own files and to call the API of its own origin only.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data:; font-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// For URLs that contain the hash of the content.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// The interactive reference: a [`Service`] for `GET` and `HEAD` of its base path, with and without a slash at the end, and
/// of the files below it.
///
/// Cloning is cheap. Large files are always compressed with gzip.
#[derive(Clone, Debug)]
pub struct SwaggerUi(Arc<Site>);

#[derive(Debug)]
struct Site {
    base_path: String,
    assets: Vec<Asset>,
}

impl SwaggerUi {
    /// Creates the reference of the API at `api_base_path`, for example `/api/v1`, to be served at `base_path`, for example
    /// `/docs`. Both are paths as browsers send them, on the same host. A router may strip `base_path` from the URI.
    ///
    /// # Errors
    /// [`BuildError`] if one of the paths has no leading slash, has a query, or contains characters that a path cannot
    /// contain.
    pub fn new(
        base_path: impl Into<String>,
        api_base_path: impl Into<String>,
    ) -> Result<Self, BuildError> {
        let (mut base_path, mut api_base_path) = (base_path.into(), api_base_path.into());
        parse_base_path("base_path", &mut base_path, "/docs")?;
        parse_base_path("api_base_path", &mut api_base_path, "/api/v1")?;
        let assets = asset::all(&base_path, &api_base_path);
        Ok(Self(Arc::new(Site { base_path, assets })))
    }
}

impl<B> Service<Request<B>> for SwaggerUi {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ResponseFuture::new(ready(self.0.respond(&request)))
    }
}

impl Site {
    fn respond<B>(&self, request: &Request<B>) -> Response<ResponseBody> {
        let mut headers = page_headers(POLICY);
        let (method, request_headers) = (request.method(), request.headers());
        if ![Method::GET, Method::HEAD].contains(method) {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return respond(
                method,
                request_headers,
                StatusCode::METHOD_NOT_ALLOWED,
                headers,
                None,
            );
        }
        let Some(asset) = self.find(request.uri().path()) else {
            return respond(
                method,
                request_headers,
                StatusCode::NOT_FOUND,
                headers,
                None,
            );
        };
        let is_versioned = request.uri().query() == Some(asset.digest());
        let cache = if is_versioned { IMMUTABLE } else { "no-cache" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        let content = Some(asset.content.clone());
        respond(method, request_headers, StatusCode::OK, headers, content)
    }

    fn find(&self, path: &str) -> Option<&Asset> {
        let below = path.strip_prefix(self.base_path.as_str()).unwrap_or(path);
        let name = below.strip_prefix('/').unwrap_or(below);
        self.assets.iter().find(|asset| asset.name == name)
    }
}
