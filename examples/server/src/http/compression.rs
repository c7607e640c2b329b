//! Compression of responses.

use axum::Router;
use axum::extract::Request;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, VARY};
use http::{HeaderValue, Response, StatusCode};
use tower::util::{MapRequestLayer, MapResponseLayer};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _, SizeAbove};

/// Minimum size of a compressed response in bytes.
const MIN_LEN: u64 = 256;

/// Permits a response that is not compressed. Preferred only if the client accepts nothing else.
const LAST_RESORT: HeaderValue = HeaderValue::from_static("identity;q=0.001");

/// Compresses the responses of a router for clients that accept gzip.
pub fn compressed(router: Router) -> Router {
    let predicate = DefaultPredicate::new().and(SizeAbove::new(MIN_LEN));
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(predicate);
    router.layer((
        MapRequestLayer::new(accept_identity),
        MapResponseLayer::new(describe),
        compression,
    ))
}

/// Permits a response that is not compressed: `tower-http` otherwise replaces the status by 406, after the request was
/// executed.
fn accept_identity(mut request: Request) -> Request {
    let headers = request.headers_mut();
    let accepted: Vec<_> = headers.get_all(ACCEPT_ENCODING).iter().cloned().collect();
    if !accepted.is_empty() {
        headers.insert(ACCEPT_ENCODING, LAST_RESORT);
        headers.extend(accepted.into_iter().map(|value| (ACCEPT_ENCODING, value)));
    }
    request
}

/// Marks the `etag` of a compressed body as weak, because it is that of the body without compression. Adds the `vary` of
/// the body to a 304.
fn describe<B>(mut response: Response<B>) -> Response<B> {
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if is_unchanged {
        headers.append(VARY, ACCEPT_ENCODING.into());
    }
    if headers.contains_key(CONTENT_ENCODING)
        && let Some(tag) = headers.get(ETAG)
        && let Ok(tag) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
    {
        headers.insert(ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn long_texts_are_compressed_for_clients_that_accept_gzip() {
        let text = "tea ".repeat(1000);
        let router = compressed(
            Router::new()
                .route("/long", get(([(ETAG, "\"1\"")], text)))
                .route("/short", get("tea"))
                .route("/unchanged", get(StatusCode::NOT_MODIFIED)),
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
        ] {
            let request = Request::get(path).header(ACCEPT_ENCODING, accepted);
            let request = request.body(axum::body::Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), 200, "{accepted}");
            let (head, body) = response.into_parts();
            let is_long = path == "/long";
            let header = |name| head.headers.get(name).map(|value| value.to_str().unwrap());
            let tag = if is_compressed { "W/\"1\"" } else { "\"1\"" };
            assert_eq!(header(ETAG), is_long.then_some(tag), "{accepted}");
            assert_eq!(header(VARY), is_long.then_some("accept-encoding"));
            let encoding = header(CONTENT_ENCODING);
            assert_eq!(encoding, is_compressed.then_some("gzip"), "{accepted}");
            let body = to_bytes(body, usize::MAX).await.unwrap();
            assert_eq!(body.starts_with(&[0x1f, 0x8b]), is_compressed);
            assert_eq!(body.len() < 256, is_compressed || !is_long, "{accepted}");
        }
        let request = Request::get("/unchanged");
        let request = request.body(axum::body::Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.headers()[VARY], "accept-encoding");
    }
}
