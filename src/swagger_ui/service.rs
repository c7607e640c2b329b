//! The service of the page and its assets.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use tower_service::Service;

use super::asset::{self, Asset};
use crate::http_util::{page_headers, respond};

/// The page may load its own files and call the API of its own site.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data:; font-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// How an asset is cached whose address names its content.
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// The interactive reference: a [`Service`] that answers `GET` and `HEAD` of its mount, with a slash at the end and
/// without, and of what the page loads from below it.
///
/// It is cheap to clone. Large files are always sent compressed with gzip.
#[derive(Clone, Debug)]
pub struct SwaggerUi(Arc<Site>);

#[derive(Debug)]
struct Site {
    mount: String,
    assets: Vec<Asset>,
}

impl SwaggerUi {
    /// The reference that is found at `mount`, as `/docs`, of the API below `api`, as `/api/v1`: both as a browser sees
    /// them, and on the same host. A router may cut the mount off or leave it.
    pub fn new(mount: &str, api: &str) -> Self {
        let (mount, api) = (mount.trim_end_matches('/'), api.trim_end_matches('/'));
        Self(Arc::new(Site {
            mount: mount.into(),
            assets: asset::all(mount, api),
        }))
    }
}

impl<B> Service<Request<B>> for SwaggerUi {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.0.respond(&request)))
    }
}

impl Site {
    fn respond<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let mut headers = page_headers(POLICY);
        let (method, asked) = (request.method(), request.headers());
        if ![Method::GET, Method::HEAD].contains(method) {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return respond(method, asked, StatusCode::METHOD_NOT_ALLOWED, headers, None);
        }
        let Some(asset) = self.find(request.uri().path()) else {
            return respond(method, asked, StatusCode::NOT_FOUND, headers, None);
        };
        let is_versioned = request.uri().query() == Some(asset.digest());
        let cache = if is_versioned { FOR_GOOD } else { "no-cache" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        let content = Some(asset.content.clone());
        respond(method, asked, StatusCode::OK, headers, content)
    }

    fn find(&self, path: &str) -> Option<&Asset> {
        let below = path.strip_prefix(self.mount.as_str()).unwrap_or(path);
        let name = below.strip_prefix('/').unwrap_or(below);
        self.assets.iter().find(|asset| asset.name == name)
    }
}
