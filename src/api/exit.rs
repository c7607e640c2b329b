//! The one exit: the headers that every response carries (contract, section 1).

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH,
    LINK, LOCATION, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use xxhash_rust::xxh3::xxh3_128;

use super::headers::Headers;
use super::hex::Hex;
use crate::api::response::Answer;
use crate::http_util::form_decode;
use crate::rate_limit::Charge;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE_NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");
const BY_AUTHORIZATION: HeaderValue = HeaderValue::from_static("authorization");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What the exit knows of a request beside its answer.
pub(super) struct Exit<'a> {
    pub(super) head: &'a Parts,
    pub(super) mount: &'a str,
    pub(super) request_id: &'a str,
    pub(super) charge: Charge,
    /// Whether nothing of the answer may be kept, not even by the client.
    pub(super) private: bool,
    /// Whether the answer can be asked for again under a condition.
    pub(super) conditional: bool,
}

impl Exit<'_> {
    pub(super) fn respond(&self, answer: Answer) -> Response<Full<Bytes>> {
        let mut headers = Headers::new();
        self.always(&mut headers, &answer);
        self.sometimes(&mut headers, &answer);
        let tag = (self.conditional && answer.status == 200).then(|| etag(&answer.body));
        if let Some(tag) = &tag {
            headers.written(ETAG, &["\"", tag.as_str(), "\""]);
        }
        let (status, body) = if tag.is_some_and(|tag| self.is_known(tag.as_str())) {
            (304, Bytes::new())
        } else {
            (answer.status, answer.body)
        };
        let body = self.sent(&mut headers, body);
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = headers.map;
        response
    }

    fn always(&self, headers: &mut Headers, answer: &Answer) {
        let secret = self.private || answer.status >= 400;
        let cache = if secret { NO_STORE } else { PRIVATE_NO_CACHE };
        let reset = self.charge.reset.as_seconds_rounded_up();
        headers.map.insert(CACHE_CONTROL, cache);
        headers.map.insert(VARY, BY_AUTHORIZATION);
        headers.map.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.number(X_RATELIMIT_LIMIT, self.charge.limit);
        headers.number(X_RATELIMIT_REMAINING, self.charge.remaining);
        headers.number(X_RATELIMIT_RESET, reset);
        headers.written(X_REQUEST_ID, &[self.request_id]);
    }

    fn sometimes(&self, headers: &mut Headers, answer: &Answer) {
        if let Some(path) = &answer.location {
            headers.written(LOCATION, &[self.mount, path]);
        }
        if let Some(next) = &answer.next {
            headers.written(LINK, &[&self.link(next)]);
        }
        if answer.replayed {
            headers.map.insert(IDEMPOTENCY_REPLAYED, TRUE);
        }
        if answer.status == 401 {
            headers.map.insert(WWW_AUTHENTICATE, BEARER);
        }
        if let Some(after) = answer.retry_after {
            headers.number(RETRY_AFTER, after.as_millis().div_ceil(1000).max(1));
        }
    }

    /// The body, but for a `HEAD`, which is told its length alone.
    fn sent(&self, headers: &mut Headers, body: Bytes) -> Bytes {
        if body.is_empty() {
            return body;
        }
        headers.map.insert(CONTENT_TYPE, JSON);
        headers.number(CONTENT_LENGTH, body.len());
        if self.head.method == Method::HEAD {
            Bytes::new()
        } else {
            body
        }
    }

    /// The same request for the next page, in ASCII as a header must be.
    fn link(&self, next: &str) -> String {
        let query = self.head.uri.query().unwrap_or_default();
        let stays = |pair: &&str| {
            let name = pair.split('=').next().and_then(form_decode);
            !matches!(name.as_deref(), Some("after" | "from" | ""))
        };
        let mut pairs: Vec<&str> = query.split('&').filter(stays).collect();
        let after = format!("after={next}");
        pairs.push(&after);
        let target = format!("{}?{}", self.head.uri.path(), pairs.join("&"));
        format!("<{}>; rel=\"next\"", utf8_percent_encode(&target, CONTROLS))
    }

    /// Tags are compared weakly, as RFC 9110 has it for this header.
    fn is_known(&self, tag: &str) -> bool {
        let lines = self.head.headers.get_all(IF_NONE_MATCH).iter();
        let mut known =
            lines.flat_map(|line| line.to_str().unwrap_or_default().split(',').map(str::trim));
        known.any(|known| known == "*" || unquoted(known) == Some(tag))
    }
}

/// What a strong tag is made of, or a weak one.
fn unquoted(tag: &str) -> Option<&str> {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.strip_prefix('"')?.strip_suffix('"')
}

fn etag(body: &[u8]) -> Hex {
    xxh3_128(body).into()
}
