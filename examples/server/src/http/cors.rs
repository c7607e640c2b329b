//! Web pages of other origins that may call the API.

use std::time::Duration;

use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LINK, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Method};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Headers that a page may send.
const SENT: [HeaderName; 11] = [
    ACCEPT,
    AUTHORIZATION,
    CONTENT_TYPE,
    IF_NONE_MATCH,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("x-request-id"),
];

/// Headers of a response that a page may read.
const EXPOSED: [HeaderName; 13] = [
    ETAG,
    LINK,
    LOCATION,
    RETRY_AFTER,
    WWW_AUTHENTICATE,
    HeaderName::from_static("idempotency-replayed"),
    HeaderName::from_static("x-error-field"),
    HeaderName::from_static("x-error-reason"),
    HeaderName::from_static("x-ratelimit-cost"),
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
    HeaderName::from_static("x-request-id"),
];

/// Time for which a browser keeps the response to a preflight request.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// Returns the layer for pages of these origins, or of any origin for `*`; `None` without origins.
pub fn layer(origins: &[HeaderValue]) -> Option<CorsLayer> {
    let origin = match origins {
        [] => return None,
        _ if origins.iter().any(|origin| origin == "*") => AllowOrigin::any(),
        _ => AllowOrigin::list(origins.iter().cloned()),
    };
    Some(
        CorsLayer::new()
            .allow_origin(origin)
            .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE])
            .allow_headers(SENT)
            .expose_headers(EXPOSED)
            .max_age(MAX_AGE),
    )
}
