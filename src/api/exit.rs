//! The one exit: the headers that every response carries (contract, section 1).

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH,
    LINK, LOCATION, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use xxhash_rust::xxh3::xxh3_128;

use super::answer::Answer;
use super::query;
use crate::budget::Charge;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

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
        let mut headers = HeaderMap::with_capacity(12);
        self.always(&mut headers, &answer);
        self.sometimes(&mut headers, &answer);
        let tag = (self.conditional && answer.status == 200).then(|| etag(&answer.body));
        let unchanged = tag.as_deref().is_some_and(|tag| self.is_known(tag));
        put(&mut headers, ETAG, tag);
        let (status, body) = if unchanged {
            (304, Bytes::new())
        } else {
            (answer.status, answer.body)
        };
        let body = self.written(&mut headers, body);
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = headers;
        response
    }

    fn always(&self, headers: &mut HeaderMap, answer: &Answer) {
        let secret = self.private || answer.status >= 400;
        let cache = if secret {
            "no-store"
        } else {
            "private, no-cache"
        };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(VARY, HeaderValue::from_static("authorization"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(X_RATELIMIT_LIMIT, self.charge.limit.into());
        headers.insert(X_RATELIMIT_REMAINING, self.charge.remaining.into());
        headers.insert(
            X_RATELIMIT_RESET,
            self.charge.reset.as_seconds_rounded_up().into(),
        );
        put(headers, X_REQUEST_ID, Some(self.request_id));
    }

    fn sometimes(&self, headers: &mut HeaderMap, answer: &Answer) {
        let below = |path: &String| format!("{}{path}", self.mount);
        put(headers, LOCATION, answer.location.as_ref().map(below));
        put(
            headers,
            LINK,
            answer.next.as_deref().map(|next| self.link(next)),
        );
        put(
            headers,
            IDEMPOTENCY_REPLAYED,
            answer.replayed.then_some("true"),
        );
        put(
            headers,
            WWW_AUTHENTICATE,
            (answer.status == 401).then_some("Bearer"),
        );
        if let Some(after) = answer.retry_after {
            let seconds = after.as_millis().div_ceil(1000).max(1);
            headers.insert(
                RETRY_AFTER,
                u64::try_from(seconds).unwrap_or(u64::MAX).into(),
            );
        }
    }

    /// The body, but for a `HEAD`, which is told its length alone.
    fn written(&self, headers: &mut HeaderMap, body: Bytes) -> Bytes {
        if body.is_empty() {
            return body;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, body.len().into());
        if self.head.method == Method::HEAD {
            Bytes::new()
        } else {
            body
        }
    }

    /// The same request for the next page, in ASCII as a header must be.
    fn link(&self, next: &str) -> String {
        let query = self.head.uri.query().unwrap_or_default();
        let name = |pair: &str| query::form_decode(pair.split('=').next()?);
        let stays = |pair: &&str| !matches!(name(pair).as_deref(), Some("after" | "from" | ""));
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
        known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
    }
}

fn etag(body: &[u8]) -> String {
    format!("\"{:032x}\"", xxh3_128(body))
}

/// A value that cannot stand in a header is left out: no part of these comes from a client undecoded.
fn put(headers: &mut HeaderMap, name: HeaderName, value: Option<impl AsRef<str>>) {
    let value = value.and_then(|value| HeaderValue::from_str(value.as_ref()).ok());
    if let Some(value) = value {
        headers.insert(name, value);
    }
}
