//! The one exit: the headers that every response carries (contract, section 10).

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, IF_NONE_MATCH, LOCATION, REFERRER_POLICY, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;

use super::answer::{Answer, Kind};

/// Pages load scripts, style sheets and images of their own origin only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const ALWAYS: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// Returns the headers of every page of the panel: scripts, style sheets and images of the same origin only, and no frame.
/// For a host's own pages that look like the panel, such as the sign-in page.
pub fn page_headers() -> HeaderMap {
    let always = ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    always.into_iter().collect()
}

pub(super) fn respond(head: &Parts, answer: Answer) -> Response<Full<Bytes>> {
    let mut headers = page_headers();
    if let Some(wait) = answer.retry_after {
        let seconds = wait.as_millis().div_ceil(1000).max(1);
        put(&mut headers, RETRY_AFTER, &seconds.to_string());
    }
    let (kind, cache, body) = contents(&mut headers, answer.kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CONTENT_LENGTH, body.len().into());
    }
    let known = is_known(head, &headers);
    let silent = known || head.method == Method::HEAD;
    let mut response = Response::new(Full::new(if silent { Bytes::new() } else { body }));
    *response.status_mut() = match known {
        true => StatusCode::NOT_MODIFIED,
        false => answer.status,
    };
    *response.headers_mut() = headers;
    response
}

/// Of what type it is, how it may be kept, and what it holds.
fn contents(headers: &mut HeaderMap, kind: Kind) -> (Option<&'static str>, &'static str, Bytes) {
    match kind {
        Kind::Page(page) => (Some("text/html; charset=utf-8"), "no-store", page.into()),
        Kind::Elsewhere(path) => {
            put(headers, LOCATION, &path);
            (None, "no-store", Bytes::new())
        }
        Kind::Style(sheet, tag) => {
            put(headers, ETAG, &tag);
            (Some("text/css; charset=utf-8"), "no-cache", sheet.into())
        }
    }
}

/// Whether the client has it already.
fn is_known(head: &Parts, headers: &HeaderMap) -> bool {
    let known = head.headers.get(IF_NONE_MATCH);
    known.is_some() && known == headers.get(ETAG)
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
