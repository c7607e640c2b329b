//! Responses for browsers: pages and their assets.

use bytes::Bytes;
use http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Method, Response, StatusCode};

use super::{EntityTag, ResponseBody};

/// Returns the security headers of pages and their assets.
pub(crate) fn page_headers(content_security_policy: &'static str) -> HeaderMap {
    let headers = [
        (CONTENT_SECURITY_POLICY, content_security_policy),
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    headers.into_iter().collect()
}

/// Body of a response, with its type and entity tag.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) content_type: &'static str,
    pub(crate) tag: Option<EntityTag>,
    pub(crate) body: Bytes,
}

impl Content {
    pub(crate) fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { content_type, tag: None, body: body.into() }
    }

    /// Creates content with an entity tag, for conditional requests.
    pub(crate) fn tagged(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let content = Self::new(content_type, body);
        Self { tag: Some(EntityTag::of(&content.body)), ..content }
    }
}

/// Builds a response. Returns 304 without content if `if-none-match` lists its tag, and no body for `HEAD`.
pub(crate) fn respond(
    method: &Method,
    request_headers: &HeaderMap,
    status: StatusCode,
    headers: HeaderMap,
    content: Option<Content>,
) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::default());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let Some(content) = content else {
        return response;
    };
    let headers = response.headers_mut();
    if let Some(tag) = content.tag {
        headers.extend(HeaderValue::from_str(tag.as_str()).map(|tag| (ETAG, tag)));
        if tag.matches(request_headers) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.content_type));
    headers.insert(CONTENT_LENGTH, content.body.len().into());
    if *method != Method::HEAD {
        *response.body_mut() = ResponseBody::new(content.body);
    }
    response
}
