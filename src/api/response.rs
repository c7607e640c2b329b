//! Responses: status, headers and body, and their conversion to HTTP ([protocol](crate::guide::protocol), section 2.7).

use bytes::{Bytes, BytesMut};
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LINK, LOCATION,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Method, Response, StatusCode};
use itoa::{Buffer, Integer};
use percent_encoding::{AsciiSet, CONTROLS, PercentEncode, utf8_percent_encode};

use super::context::RequestContext;
use crate::http_util::{EntityTag, ResponseBody, form_decode, retry_after};
use crate::operation::{AFTER, ApiResponse, CachePolicy};
use crate::rate_limit::RateLimitDecision;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_COST: HeaderName = HeaderName::from_static("x-ratelimit-cost");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
pub(crate) const X_ERROR_REASON: HeaderName = HeaderName::from_static("x-error-reason");
pub(crate) const X_ERROR_FIELD: HeaderName = HeaderName::from_static("x-error-field");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE_NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");
const VARY_AUTHORIZATION: HeaderValue = HeaderValue::from_static("authorization");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
/// Value of `www-authenticate`, before the scope that the token lacks.
const INSUFFICIENT_SCOPE: &str = r#"Bearer error="insufficient_scope", scope=""#;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Characters that are encoded in URLs of headers: those that a URL cannot contain, and the comma and the semicolon, at which
/// some clients split a header.
const URL_ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b',')
    .add(b';')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Encodes a URL of a header. Keeps what is percent-encoded already.
fn encode_url(url: &str) -> PercentEncode<'_> {
    utf8_percent_encode(url, URL_ENCODED)
}

/// Converts a response to HTTP. `charge` is shown in the rate limit headers.
///
/// Answers 304 if the client already has the body, and drops the body of a `HEAD` request.
pub(super) fn into_http(
    response: ApiResponse,
    context: &RequestContext<'_>,
    base_path: &str,
    charge: RateLimitDecision,
) -> Response<ResponseBody> {
    let mut headers = Headers::new();
    headers.add_common(response.status, context.cache_policy);
    headers.add_rate_limit(charge);
    headers.insert_int(X_RATELIMIT_COST, context.charged_units.unwrap_or_default());
    headers.insert_parts(X_REQUEST_ID, &[context.id.as_str()]);
    headers.add_optional(&response, base_path, context);
    let mut status = response.status;
    let mut body = response.body;
    if context.is_conditional && status == StatusCode::OK {
        let tag = EntityTag::of(&body);
        headers.insert_parts(ETAG, &[tag.as_str()]);
        if tag.matches(&context.head.headers) {
            (status, body) = (StatusCode::NOT_MODIFIED, Bytes::new());
        }
    }
    if !body.is_empty() {
        headers.map.insert(CONTENT_TYPE, JSON);
        headers.insert_int(CONTENT_LENGTH, body.len());
    }
    if context.head.method == Method::HEAD {
        body.clear();
    }
    let mut response = Response::new(ResponseBody::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers.map;
    response
}

/// Builds the `link` header: the request's own URI with the cursor of the next page, percent-encoded to ASCII. `from`
/// selects the first page of a thread's posts, and is not accepted with a cursor.
fn link(context: &RequestContext<'_>, next: &str) -> String {
    let uri = &context.head.uri;
    let query = uri.query().unwrap_or_default();
    let is_kept = |pair: &&str| {
        let name = pair.split('=').next().and_then(form_decode);
        match name.as_deref() {
            Some("from") => context.operation != Some("listPosts"),
            name => !matches!(name, Some(AFTER | "")),
        }
    };
    let mut pairs: Vec<&str> = query.split('&').filter(is_kept).collect();
    let after = format!("{AFTER}={next}");
    pairs.push(&after);
    let target = format!("{}?{}", uri.path(), pairs.join("&"));
    format!("<{}>; rel=\"next\"", encode_url(&target))
}

/// Headers of a response, and one buffer for the values that are formatted.
struct Headers {
    map: HeaderMap,
    text: BytesMut,
}

impl Headers {
    /// Allocates capacity for the headers of most responses.
    fn new() -> Self {
        Self { map: HeaderMap::with_capacity(12), text: BytesMut::with_capacity(128) }
    }

    fn add_common(&mut self, status: StatusCode, cache_policy: CachePolicy) {
        let is_error = status.is_client_error() || status.is_server_error();
        let cache_control = match cache_policy {
            CachePolicy::PrivateNoCache if !is_error => PRIVATE_NO_CACHE,
            _ => NO_STORE,
        };
        self.map.insert(CACHE_CONTROL, cache_control);
        self.map.insert(VARY, VARY_AUTHORIZATION);
        self.map.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    }

    fn add_rate_limit(&mut self, charge: RateLimitDecision) {
        self.insert_int(X_RATELIMIT_LIMIT, charge.limit);
        self.insert_int(X_RATELIMIT_REMAINING, charge.remaining);
        self.insert_int(X_RATELIMIT_RESET, charge.resets_at.as_secs_ceil());
    }

    fn add_optional(
        &mut self,
        response: &ApiResponse,
        base_path: &str,
        context: &RequestContext<'_>,
    ) {
        if let Some(path) = &response.location {
            let url = format!("{base_path}{path}");
            self.insert_parts(LOCATION, &[&encode_url(&url).to_string()]);
        }
        if let Some(next) = &response.next {
            self.insert_parts(LINK, &[&link(context, next)]);
        }
        if response.replayed {
            self.map.insert(IDEMPOTENCY_REPLAYED, TRUE);
        }
        if response.status == StatusCode::UNAUTHORIZED {
            self.map.insert(WWW_AUTHENTICATE, BEARER);
        }
        if let Some(scope) = response.missing_scope {
            let parts = [INSUFFICIENT_SCOPE, scope.as_str(), "\""];
            self.insert_parts(WWW_AUTHENTICATE, &parts);
        }
        if let Some(reason) = &response.reason {
            self.insert_parts(X_ERROR_REASON, &[reason]);
        }
        // A name that is not visible ASCII is in the message only.
        let is_visible = |name: &&String| name.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(field) = response.field.as_ref().filter(is_visible) {
            self.insert_parts(X_ERROR_FIELD, &[field]);
        }
        if let Some(after) = response.retry_after {
            self.insert_int(RETRY_AFTER, retry_after(after));
        }
    }

    fn insert_int(&mut self, name: HeaderName, number: impl Integer) {
        self.insert_parts(name, &[Buffer::new().format(number)]);
    }

    /// Inserts the concatenated parts. Omits a header whose value would be invalid.
    fn insert_parts(&mut self, name: HeaderName, parts: &[&str]) {
        for part in parts {
            self.text.extend_from_slice(part.as_bytes());
        }
        let value = HeaderValue::from_maybe_shared(self.text.split().freeze());
        if let Ok(value) = value {
            self.map.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::encode_url;

    #[test]
    fn urls_of_headers_contain_no_delimiter_of_a_header() {
        for (url, encoded) in [
            ("/a/b-c_d.e~f?g=@h&i=%2C+%20", "/a/b-c_d.e~f?g=@h&i=%2C+%20"),
            ("/a,b;c?d=1,2;3", "/a%2Cb%3Bc?d=1%2C2%3B3"),
            (r#"/?q="a b"<>\^`{|}ü"#, "/?q=%22a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%C3%BC"),
        ] {
            assert_eq!(encode_url(url).to_string(), encoded);
        }
    }
}
