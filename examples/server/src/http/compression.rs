//! Compression of responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::IntoResponse as _;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate};

/// Minimum size of a compressed response in bytes.
const MIN_LEN: u64 = 256;

/// Permits a response that is not compressed. Preferred only if the client accepts nothing else.
const LAST_RESORT: HeaderValue = HeaderValue::from_static("identity;q=0.001");

/// The end of the `etag` of a compressed body.
const COMPRESSED_TAG: &str = "-gzip\"";

/// Compressed bodies that never change, by their `etag`.
type Bodies = Arc<Mutex<HashMap<HeaderValue, Bytes>>>;

/// Compresses the responses of a router for clients that accept gzip: pages well, because the reference page is long and
/// compressed once, and other responses fast.
pub fn compress(router: Router) -> Router {
    let predicate = IsLong.and(NotForContentType::IMAGES).and(NotForContentType::SSE);
    let pages = CompressionLayer::new().compress_when(predicate.clone().and(IsPage));
    let others =
        CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate);
    let once = from_fn_with_state(Bodies::default(), compress_once);
    router.layer(pages).layer(others).layer(once).layer(from_fn(negotiate))
}

/// Compresses a body that never changes for the first client only: requests for it are free, and compressing the reference
/// page takes sixty times as long as sending it.
async fn compress_once(
    State(bodies): State<Bodies>,
    request: Request,
    next: Next,
) -> axum::response::Response {
    let is_read = request.method() == Method::GET;
    // Its headers are those of the responses of the API, which differ for each caller.
    let is_document = request.uri().path().ends_with("/openapi.json");
    let response = next.run(request).await;
    let headers = response.headers();
    let is_public = headers.get(CACHE_CONTROL).is_some_and(|value| value == "no-cache");
    let is_compressed = is_read && headers.contains_key(CONTENT_ENCODING);
    let never_changes = is_document || is_public;
    let tag = headers.get(ETAG).filter(|_| is_compressed && never_changes);
    let Some(tag) = tag.cloned() else {
        return response;
    };
    let lock = || bodies.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().get(&tag).cloned();
    let (head, body) = response.into_parts();
    let body = match known {
        Some(known) => known,
        None => match to_bytes(body, usize::MAX).await {
            Ok(body) => lock().entry(tag).or_insert(body).clone(),
            Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        },
    };
    Response::from_parts(head, body.into())
}

#[derive(Clone, Copy)]
struct IsPage;

impl Predicate for IsPage {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let media_type = response.headers().get(CONTENT_TYPE);
        media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"))
    }
}

/// Selects long responses. A response to HEAD has the length of the response to GET, but no body.
#[derive(Clone, Copy)]
struct IsLong;

impl Predicate for IsLong {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let header = |name: HeaderName| response.headers().get(name)?.to_str().ok();
        let length = header(CONTENT_LENGTH)
            .and_then(|length| length.parse().ok())
            .or_else(|| response.body().size_hint().exact());
        // The length of a compressed page would reveal its CSRF token to a site that chooses the query.
        let is_private_page =
            header(CACHE_CONTROL) == Some("no-store") && IsPage.should_compress(response);
        !is_private_page && length.is_none_or(|length| length >= MIN_LEN)
    }
}

/// Gives compressed bodies an `etag` of their own, and recognises it in requests. A 304 has the `vary` of the body.
async fn negotiate(mut request: Request, next: Next) -> axum::response::Response {
    let headers = request.headers_mut();
    accept_identity(headers);
    let mut is_known = false;
    let lines = headers.iter_mut().filter(|(name, _)| *name == IF_NONE_MATCH);
    for (_, tags) in lines {
        if let Ok(known) = tags.to_str()
            && known.contains(COMPRESSED_TAG)
            && let Ok(plain) = known.replace(COMPRESSED_TAG, "\"").parse()
        {
            *tags = plain;
            is_known = true;
        }
    }
    let mut response = next.run(request).await;
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if is_unchanged {
        headers.append(VARY, ACCEPT_ENCODING.into());
    }
    let is_compressed = headers.contains_key(CONTENT_ENCODING) || is_unchanged && is_known;
    let tag =
        headers.get(ETAG).and_then(|tag| tag.to_str().ok()).and_then(|tag| tag.strip_suffix('"'));
    if let Some(tag) = tag.filter(|_| is_compressed)
        && let Ok(tag) = HeaderValue::try_from(format!("{tag}{COMPRESSED_TAG}"))
    {
        headers.insert(ETAG, tag);
    }
    response
}

/// Permits a response that is not compressed: `tower-http` otherwise replaces the status by 406, after the request was
/// executed.
fn accept_identity(headers: &mut HeaderMap) {
    let accepted: Vec<_> = headers.get_all(ACCEPT_ENCODING).iter().cloned().collect();
    if !accepted.is_empty() {
        headers.insert(ACCEPT_ENCODING, LAST_RESORT);
        headers.extend(accepted.into_iter().map(|value| (ACCEPT_ENCODING, value)));
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::Body;
    use axum::response::{Html, Response};
    use axum::routing::get;
    use http::request::Builder;
    use tower::ServiceExt as _;

    use super::*;

    async fn send(router: &Router, request: Builder) -> Response {
        let request = request.body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn long_texts_are_compressed_for_clients_that_accept_gzip() {
        let text = "tea ".repeat(1000);
        let page = text.clone();
        let unchanged = async |headers: HeaderMap| {
            assert_eq!(headers[IF_NONE_MATCH], "\"0\", \"1\"");
            (StatusCode::NOT_MODIFIED, [(ETAG, "\"1\"")])
        };
        let router = compress(
            Router::new()
                .route("/long", get(([(ETAG, "\"1\"")], text)))
                .route("/short", get("tea"))
                .route("/private", get(([(CACHE_CONTROL, "no-store")], Html(page))))
                .route("/unchanged", get(unchanged)),
        );
        for (path, accepted, is_compressed) in [
            ("/long", "gzip, deflate, br", true),
            ("/long", "GZIP;q=0.5, identity;q=0.1", true),
            ("/long", "*", true),
            ("/long", "identity;q=0, gzip", true),
            ("/long", "br", false),
            ("/long", "gzip;q=0", false),
            ("/long", "identity;q=0, *;q=0", false),
            ("/short", "gzip", false),
            ("/private", "gzip", false),
        ] {
            let request = Request::get(path).header(ACCEPT_ENCODING, accepted);
            let response = send(&router, request).await;
            assert_eq!(response.status(), 200, "{accepted}");
            let (head, body) = response.into_parts();
            let is_long = path == "/long";
            let header = |name| head.headers.get(name).map(|value| value.to_str().unwrap());
            let tag = if is_compressed { "\"1-gzip\"" } else { "\"1\"" };
            assert_eq!(header(ETAG), is_long.then_some(tag), "{accepted}");
            assert_eq!(header(VARY), is_long.then_some("accept-encoding"));
            let encoding = header(CONTENT_ENCODING);
            assert_eq!(encoding, is_compressed.then_some("gzip"), "{accepted}");
            let body = to_bytes(body, usize::MAX).await.unwrap();
            assert_eq!(body.starts_with(&[0x1f, 0x8b]), is_compressed);
            let is_small = is_compressed || path == "/short";
            assert_eq!(body.len() < 256, is_small, "{accepted}");
        }
        let request = Request::head("/long").header(ACCEPT_ENCODING, "gzip");
        let response = send(&router, request).await;
        assert_eq!(response.headers()[ETAG], "\"1-gzip\"");
        assert_eq!(response.headers().get(CONTENT_LENGTH), None);
        let request = Request::get("/unchanged").header(IF_NONE_MATCH, "\"0\", \"1-gzip\"");
        let response = send(&router, request).await;
        assert_eq!(response.headers()[VARY], "accept-encoding");
        assert_eq!(response.headers()[ETAG], "\"1-gzip\"");
    }

    #[tokio::test]
    async fn a_body_that_never_changes_is_compressed_once() {
        let number = Arc::new(AtomicU32::new(0));
        let constant = move || {
            let text = number.fetch_add(1, Ordering::SeqCst).to_string();
            let headers = [(ETAG, "\"1\""), (CACHE_CONTROL, "no-cache")];
            ready((headers, text.repeat(1000)))
        };
        let router = compress(Router::new().route("/", get(constant)));
        let mut bodies = Vec::new();
        for accepted in ["gzip", "gzip", "br"] {
            let request = Request::get("/").header(ACCEPT_ENCODING, accepted);
            let body = send(&router, request).await.into_body();
            bodies.push(to_bytes(body, usize::MAX).await.unwrap());
        }
        assert!(bodies[0].starts_with(&[0x1f, 0x8b]));
        assert_eq!(bodies[0], bodies[1]);
        assert_eq!(bodies[2], "2".repeat(1000));
    }
}
