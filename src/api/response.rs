//! Responses: status, headers and body, and their conversion to HTTP (`docs/protocol.md`, section 2.7).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LINK, LOCATION,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use itoa::{Buffer, Integer};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Serialize;

use super::ErrorMessages;
use super::error::ApiError;
use crate::http_util::{EntityTag, form_decode, retry_after};
use crate::rate_limit::RateLimitDecision;
use crate::store::{ResourceIds, StoredResponse};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE_NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");
const VARY_AUTHORIZATION: HeaderValue = HeaderValue::from_static("authorization");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A response before its headers are attached.
#[derive(Clone, Debug, Default)]
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
    /// The error code of a refusal.
    pub(super) code: Option<&'static str>,
    /// A path below the base path.
    pub(super) location: Option<String>,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    pub(super) retry_after: Option<Duration>,
    /// True if it is a stored response.
    pub(super) replayed: bool,
    /// Ids of what the response is about, stored with it.
    pub(super) resource: ResourceIds,
}

/// Body of an error response.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErrorBody<'a> {
    /// The error.
    error: ErrorObject<'a>,
}

/// Code and message of an error.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ErrorObject<'a> {
    /// Stable, machine-readable code; see the table of errors.
    code: &'static str,
    /// Text for people, in the board's language.
    message: &'a str,
    /// Id of the request in the board's log.
    request_id: &'a str,
}

impl ApiResponse {
    pub(super) fn ok(body: Bytes) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    pub(super) fn refusal(error: &ApiError, messages: &ErrorMessages, request_id: &str) -> Self {
        let (code, message) = error.describe(messages);
        let object = ErrorObject {
            code: code.as_str(),
            message: &message,
            request_id,
        };
        let body = serde_json::to_vec(&ErrorBody { error: object });
        Self {
            status: error.status(code),
            body: body.unwrap_or_default().into(),
            code: Some(code.as_str()),
            retry_after: error.retry_after(),
            ..Self::default()
        }
    }
}

impl From<&ApiResponse> for StoredResponse {
    fn from(response: &ApiResponse) -> Self {
        Self {
            status: response.status.as_u16(),
            location: response.location.clone(),
            body: response.body.clone(),
            resource: response.resource.clone(),
        }
    }
}

impl From<StoredResponse> for ApiResponse {
    fn from(kept: StoredResponse) -> Self {
        Self {
            status: StatusCode::from_u16(kept.status).unwrap_or_default(),
            resource: kept.resource,
            location: kept.location,
            body: kept.body,
            replayed: true,
            ..Self::default()
        }
    }
}

/// What the headers say of a request.
pub(super) struct ResponseContext<'a> {
    pub(super) head: &'a Parts,
    pub(super) base_path: &'a str,
    pub(super) request_id: &'a str,
    pub(super) charge: RateLimitDecision,
    /// True if not even the client may store the response.
    pub(super) is_private: bool,
    /// True if the response has an `etag`.
    pub(super) is_conditional: bool,
}

impl ResponseContext<'_> {
    pub(super) fn respond(&self, response: ApiResponse) -> Response<Full<Bytes>> {
        let mut headers = Headers::new();
        self.common_headers(&mut headers, response.status);
        self.conditional_headers(&mut headers, &response);
        let (mut status, mut body) = (response.status, response.body);
        if self.is_conditional && status == StatusCode::OK {
            let tag = EntityTag::of(&body);
            headers.insert_parts(ETAG, &[tag.as_str()]);
            if tag.is_known(&self.head.headers) {
                (status, body) = (StatusCode::NOT_MODIFIED, Bytes::new());
            }
        }
        let body = self.finish_body(&mut headers, body);
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers.map;
        response
    }

    fn common_headers(&self, headers: &mut Headers, status: StatusCode) {
        let is_refusal = status.is_client_error() || status.is_server_error();
        let cache = if self.is_private || is_refusal {
            NO_STORE
        } else {
            PRIVATE_NO_CACHE
        };
        let reset = self.charge.resets_at.as_secs_ceil();
        headers.map.insert(CACHE_CONTROL, cache);
        headers.map.insert(VARY, VARY_AUTHORIZATION);
        headers.map.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert_int(X_RATELIMIT_LIMIT, self.charge.limit);
        headers.insert_int(X_RATELIMIT_REMAINING, self.charge.remaining);
        headers.insert_int(X_RATELIMIT_RESET, reset);
        headers.insert_parts(X_REQUEST_ID, &[self.request_id]);
    }

    fn conditional_headers(&self, headers: &mut Headers, response: &ApiResponse) {
        if let Some(path) = &response.location {
            headers.insert_parts(LOCATION, &[self.base_path, path]);
        }
        if let Some(next) = &response.next {
            headers.insert_parts(LINK, &[&self.link(next)]);
        }
        if response.replayed {
            headers.map.insert(IDEMPOTENCY_REPLAYED, TRUE);
        }
        if response.status == StatusCode::UNAUTHORIZED {
            headers.map.insert(WWW_AUTHENTICATE, BEARER);
        }
        if let Some(after) = response.retry_after {
            headers.insert_int(RETRY_AFTER, retry_after(after));
        }
    }

    /// The body; a `HEAD` gets only its length.
    fn finish_body(&self, headers: &mut Headers, body: Bytes) -> Bytes {
        if body.is_empty() {
            return body;
        }
        headers.map.insert(CONTENT_TYPE, JSON);
        headers.insert_int(CONTENT_LENGTH, body.len());
        match self.head.method {
            Method::HEAD => Bytes::new(),
            _ => body,
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
}

/// Headers, and one buffer for the values that are written for this response.
struct Headers {
    map: HeaderMap,
    text: BytesMut,
}

impl Headers {
    /// With room for the headers of most responses.
    fn new() -> Self {
        Self {
            map: HeaderMap::with_capacity(12),
            text: BytesMut::with_capacity(128),
        }
    }

    fn insert_int(&mut self, name: HeaderName, number: impl Integer) {
        self.insert_parts(name, &[Buffer::new().format(number)]);
    }

    /// Inserts a value that consists of these parts. A value that is invalid in a header is left out.
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
