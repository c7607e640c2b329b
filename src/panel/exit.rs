//! The one exit: the headers that every response carries.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Response};
use http_body_util::Full;

use super::answer::{Answer, Kind};
use crate::http_util::{self, Content};

/// Pages load scripts, style sheets and images of their own origin only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// Returns the headers of every page of the panel: scripts, style sheets and images of the same origin only, and no frame.
/// For a host's own pages that look like the panel, such as the sign-in page.
pub fn page_headers() -> HeaderMap {
    http_util::page_headers(POLICY)
}

pub(super) fn respond(head: &Parts, answer: Answer) -> Response<Full<Bytes>> {
    let mut headers = page_headers();
    if let Some(wait) = answer.retry_after {
        let seconds = http_util::retry_after(wait).to_string();
        put(&mut headers, RETRY_AFTER, &seconds);
    }
    let (cache, content) = contents(&mut headers, answer.kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    http_util::respond(&head.method, &head.headers, answer.status, headers, content)
}

/// How it may be cached, and what it holds.
fn contents(headers: &mut HeaderMap, kind: Kind) -> (&'static str, Option<Content>) {
    match kind {
        Kind::Page(page) => (
            "no-store",
            Some(Content::new("text/html; charset=utf-8", page)),
        ),
        Kind::Elsewhere(path) => {
            put(headers, LOCATION, &path);
            ("no-store", None)
        }
        Kind::Style(sheet) => (
            "no-cache",
            Some(Content::tagged("text/css; charset=utf-8", sheet)),
        ),
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
