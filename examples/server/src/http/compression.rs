//! Compression of responses.

use std::mem;
use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_request};
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, Entry,
    IF_NONE_MATCH, VARY,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::OnceCell;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate};

/// Minimum size of a compressed response in bytes.
const MIN_LEN: u64 = 256;

/// Permits a response that is not compressed. Preferred only if the client accepts nothing else.
const LAST_RESORT: HeaderValue = HeaderValue::from_static("identity;q=0.001");

/// End of the `etag` of a compressed body.
const ETAG_SUFFIX: &str = "-gzip\"";

/// Compresses the responses of a router for clients that accept gzip. The level is fast, because most bodies are sent
/// once. The `etag` of a compressed body ends with `-gzip`, because a strong `etag` belongs to one sequence of bytes.
pub fn compress(router: Router) -> Router {
    let fast = CompressionLayer::new().quality(CompressionLevel::Fastest);
    let compressed = IsText.and(NotForContentType::IMAGES).and(NotForContentType::SSE);
    router
        .layer(fast.compress_when(compressed))
        .layer(map_request(accept_identity))
        .layer(from_fn(distinguish_etags))
}

/// Compresses the body of the only route of a router well, for the first client that accepts gzip. All later ones get the
/// same bytes: a request for a page that never changes costs no budget, and compressing the reference page takes sixty
/// times as long as sending it.
pub fn compress_once(route: Router) -> Router {
    let compressed = Arc::new(OnceCell::new());
    route
        .layer(CompressionLayer::new().compress_when(IsText))
        .layer(from_fn_with_state(compressed, send_compressed))
}

async fn send_compressed(
    State(compressed): State<Arc<OnceCell<Bytes>>>,
    request: Request,
    next: Next,
) -> Response {
    let is_read = request.method() == Method::GET;
    let response = next.run(request).await;
    let is_compressed = response.headers().contains_key(CONTENT_ENCODING);
    if !(is_read && is_compressed && response.status() == StatusCode::OK) {
        return response;
    }
    let (head, body) = response.into_parts();
    match compressed.get_or_try_init(|| to_bytes(body, usize::MAX)).await {
        Ok(body) => Response::from_parts(head, body.clone().into()),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Selects responses that are worth compressing, and do not contain a secret. A response to HEAD has the length of the
/// response to GET, but no body.
#[derive(Clone, Copy)]
struct IsText;

impl Predicate for IsText {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let header = |name: HeaderName| response.headers().get(name)?.to_str().ok();
        let length = header(CONTENT_LENGTH)
            .and_then(|length| length.parse().ok())
            .or_else(|| response.body().size_hint().exact());
        // The length of a compressed page would reveal its CSRF token to a site that chooses the query.
        let is_private_page = header(CACHE_CONTROL) == Some("no-store")
            && header(CONTENT_TYPE).is_some_and(|value| value.starts_with("text/html"));
        !is_private_page && length.is_none_or(|length| length >= MIN_LEN)
    }
}

/// Permits a response that is not compressed: `tower-http` otherwise replaces the status by 406, after the request was
/// executed.
async fn accept_identity(mut request: Request) -> Request {
    let headers = request.headers_mut();
    let accepted: Vec<_> = headers.get_all(ACCEPT_ENCODING).iter().cloned().collect();
    if !accepted.is_empty() {
        headers.insert(ACCEPT_ENCODING, LAST_RESORT);
        headers.extend(accepted.into_iter().map(|value| (ACCEPT_ENCODING, value)));
    }
    request
}

/// Adds [`ETAG_SUFFIX`] to the `etag` of a compressed body, and of a 304 if the request has the tag of the compressed body.
/// Removes it from the conditions of a request. Adds `vary` to each 304, because a cache replaces the headers of its copy by
/// those of the 304.
async fn distinguish_etags(mut request: Request, next: Next) -> Response {
    let mut of_compressed = Vec::new();
    if let Entry::Occupied(mut conditions) = request.headers_mut().entry(IF_NONE_MATCH) {
        for tags in conditions.iter_mut() {
            if let Some(plain) = without_suffix(tags) {
                of_compressed.push(mem::replace(tags, plain));
            }
        }
    }
    let mut response = next.run(request).await;
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if is_unchanged {
        headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
    let is_compressed = headers.contains_key(CONTENT_ENCODING);
    if is_compressed || !of_compressed.is_empty() {
        let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"'));
        let suffixed = tag.map(|tag| format!("{tag}{ETAG_SUFFIX}"));
        let is_condition =
            |tag: &str| of_compressed.iter().filter_map(as_text).any(|tags| tags.contains(tag));
        let suffixed = suffixed.filter(|tag| is_compressed || is_unchanged && is_condition(tag));
        if let Some(suffixed) = suffixed.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            headers.insert(ETAG, suffixed);
        }
    }
    response
}

/// Removes [`ETAG_SUFFIX`] from a list of tags. Returns `None` if no tag has it.
fn without_suffix(tags: &HeaderValue) -> Option<HeaderValue> {
    let tags = as_text(tags).filter(|tags| tags.contains(ETAG_SUFFIX))?;
    HeaderValue::try_from(tags.replace(ETAG_SUFFIX, "\"")).ok()
}

fn as_text(value: &HeaderValue) -> Option<&str> {
    str::from_utf8(value.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::Body;
    use axum::response::Html;
    use axum::routing::{any, get};
    use http::HeaderMap;
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
        let private_page = ([(CACHE_CONTROL, "no-store")], Html(text.clone()));
        let router = compress(
            Router::new()
                .route("/long", get(([(ETAG, "\"1\"")], text)))
                .route("/short", get("tea"))
                .route("/private", get(private_page)),
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
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(response.headers()[ETAG], "\"1-gzip\"");
        assert_eq!(response.headers().get(CONTENT_LENGTH), None);
    }

    #[tokio::test]
    async fn the_length_the_media_type_and_a_secret_decide_about_the_compression() {
        let sent = |len: usize, media_type: &'static str, caching: &'static str| {
            get(([(CONTENT_TYPE, media_type), (CACHE_CONTROL, caching)], "x".repeat(len)))
        };
        let router = compress(
            Router::new()
                .route("/short", sent(255, "text/plain", "no-store"))
                .route("/long", sent(256, "text/plain", "no-store"))
                .route("/page", sent(1000, "text/html", "no-cache"))
                .route("/private", sent(1000, "text/html; charset=utf-8", "no-store"))
                .route("/json", sent(1000, "application/json", "no-store"))
                .route("/image", sent(1000, "image/png", "no-cache"))
                .route("/events", sent(1000, "text/event-stream", "no-store")),
        );
        for (path, is_compressed) in [
            ("/short", false),
            ("/long", true),
            ("/page", true),
            ("/private", false),
            ("/json", true),
            ("/image", false),
            ("/events", false),
        ] {
            let response = send(&router, Request::get(path).header(ACCEPT_ENCODING, "gzip")).await;
            let has_encoding = response.headers().contains_key(CONTENT_ENCODING);
            assert_eq!(has_encoding, is_compressed, "{path}");
        }
    }

    #[tokio::test]
    async fn the_etag_of_either_form_is_a_condition() {
        let page = |headers: HeaderMap| async move {
            let is_unchanged =
                headers.get_all(IF_NONE_MATCH).iter().any(|tags| tags == "\"0\", \"1\"");
            let status = if is_unchanged { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
            (status, [(ETAG, "\"1\"")])
        };
        let router = compress(Router::new().route("/", get(page)));
        for (lines, expected) in [
            (&["\"0\", \"1\""][..], "\"1\""),
            (&["\"0\", \"1-gzip\""], "\"1-gzip\""),
            (&["\"é\"", "\"0-gzip\"", "\"0\", \"1-gzip\""], "\"1-gzip\""),
            (&["\"0-gzip\"", "\"0\", \"1\""], "\"1\""),
        ] {
            let mut request = Request::get("/");
            for tags in lines {
                request = request.header(IF_NONE_MATCH, *tags);
            }
            let response = send(&router, request).await;
            assert_eq!(response.status(), 304, "{lines:?}");
            assert_eq!(response.headers()[ETAG], expected);
            assert_eq!(response.headers()[VARY], "accept-encoding");
        }
    }

    #[tokio::test]
    async fn a_body_that_never_changes_is_compressed_once() {
        let number = Arc::new(AtomicU32::new(0));
        let constant = move || {
            let text = number.fetch_add(1, Ordering::SeqCst).to_string();
            ready(text.repeat(1000))
        };
        let router = compress(compress_once(Router::new().route("/", get(constant))));
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

    #[tokio::test]
    async fn the_empty_body_of_a_response_to_head_is_not_kept() {
        let page = |method: Method| {
            let body = if method == Method::HEAD { String::new() } else { "x".repeat(1000) };
            ready(([(CONTENT_LENGTH, "1000")], body))
        };
        let router = compress(compress_once(Router::new().route("/", any(page))));
        for (request, len) in [(Request::head("/"), 0), (Request::get("/"), 1000)] {
            let response = send(&router, request.header(ACCEPT_ENCODING, "gzip")).await;
            assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            // The last four bytes of a compressed body are its length before the compression.
            assert!(len == 0 || body.ends_with(&u32::to_le_bytes(len)), "{body:?}");
        }
    }
}
