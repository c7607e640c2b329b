//! The service of the page and its assets.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use tower_service::Service;

use super::file::File;
use super::page::page;

/// What the page may load: its own files and the API, from its own site alone (contract, section 10).
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data:; font-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const ALWAYS: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The interactive reference: a [`Service`] that answers `GET` and `HEAD` of its mount, with a slash at the end and
/// without, and of what the page loads from below it.
///
/// It is cheap to clone. Large files are always sent compressed with gzip.
#[derive(Clone, Debug)]
pub struct Docs(Arc<Site>);

#[derive(Debug)]
struct Site {
    mount: String,
    page: File,
    assets: [File; 4],
}

impl Docs {
    /// The reference that is found at `mount`, as `/docs`, of the API below `api`, as `/api/v1`: both as a browser sees
    /// them, and on the same host. A router may cut the mount off or leave it.
    pub fn new(mount: &str, api: &str) -> Self {
        let (mount, api) = (mount.trim_end_matches('/'), api.trim_end_matches('/'));
        let assets = File::assets();
        Self(Arc::new(Site {
            mount: mount.into(),
            page: page(mount, api, &assets),
            assets,
        }))
    }
}

impl<B> Service<Request<B>> for Docs {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.0.answer(&request)))
    }
}

impl Site {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut refused = bare(StatusCode::METHOD_NOT_ALLOWED);
            let allowed = HeaderValue::from_static("GET, HEAD");
            refused.headers_mut().insert(ALLOW, allowed);
            return refused;
        }
        match self.find(request.uri().path()) {
            Some(file) => sent(file, request),
            None => bare(StatusCode::NOT_FOUND),
        }
    }

    fn find(&self, path: &str) -> Option<&File> {
        let below = path.strip_prefix(self.mount.as_str()).unwrap_or(path);
        let name = below.strip_prefix('/').unwrap_or(below);
        let mut files = [&self.page].into_iter().chain(&self.assets);
        files.find(|file| file.name == name)
    }
}

fn sent<B>(file: &File, request: &Request<B>) -> Response<Full<Bytes>> {
    let tag = format!("\"{}\"", file.tag);
    let known = request.headers().get(IF_NONE_MATCH);
    let known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = bare(if known {
        StatusCode::NOT_MODIFIED
    } else {
        StatusCode::OK
    });
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept(file, request)));
    headers.extend(HeaderValue::try_from(tag).map(|tag| (ETAG, tag)));
    if known {
        return response;
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(CONTENT_LENGTH, file.body.len().into());
    if file.gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if request.method() == Method::GET {
        *response.body_mut() = file.body.clone().into();
    }
    response
}

/// What is asked for by its content never changes.
fn kept<B>(file: &File, request: &Request<B>) -> &'static str {
    if request.uri().query() == Some(&file.tag) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    }
}

fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    let always = ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(always);
    response
}
