//! The responses of the panel and the headers that each of them carries.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use maud::Markup;

use super::error::PanelError;
use crate::http_util::{self, Content};

/// Pages load scripts, style sheets and images of their own origin only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// The path of the style sheet. Anybody may load it: a host's own sign-in page may use it.
pub(super) const STYLE_SHEET: &str = "/style.css";

/// The result of a page or a form.
pub(super) type PageResult = Result<PageResponse, PanelError>;

/// A response before its headers are attached.
pub(super) struct PageResponse {
    pub(super) status: StatusCode,
    kind: PageKind,
    retry_after: Option<Duration>,
}

enum PageKind {
    Page(String),
    Redirect(String),
    StyleSheet,
}

impl PageResponse {
    fn new(status: StatusCode, kind: PageKind) -> Self {
        Self {
            status,
            kind,
            retry_after: None,
        }
    }

    pub(super) fn page(status: StatusCode, page: Markup) -> Self {
        Self::new(status, PageKind::Page(page.into_string()))
    }

    pub(super) fn see_other(path: String) -> Self {
        Self::new(StatusCode::SEE_OTHER, PageKind::Redirect(path))
    }

    pub(super) fn style_sheet() -> Self {
        Self::new(StatusCode::OK, PageKind::StyleSheet)
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self {
            retry_after: Some(wait),
            ..self
        }
    }

    pub(super) fn into_response(self, head: &Parts) -> Response<Full<Bytes>> {
        let mut headers = page_headers();
        if let Some(wait) = self.retry_after {
            let seconds = http_util::retry_after(wait).to_string();
            insert(&mut headers, RETRY_AFTER, &seconds);
        }
        let (cache, content) = match self.kind {
            PageKind::Page(page) => {
                let content = Content::new("text/html; charset=utf-8", page);
                ("no-store", Some(content))
            }
            PageKind::Redirect(path) => {
                insert(&mut headers, LOCATION, &path);
                ("no-store", None)
            }
            PageKind::StyleSheet => {
                let sheet = include_str!("style.css");
                let content = Content::tagged("text/css; charset=utf-8", sheet);
                ("no-cache", Some(content))
            }
        };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        http_util::respond(&head.method, &head.headers, self.status, headers, content)
    }
}

/// Returns the headers of every page of the panel: scripts, style sheets and images of the same origin only, and no frame.
/// For a host's own pages that look like the panel, such as the sign-in page.
pub fn page_headers() -> HeaderMap {
    http_util::page_headers(POLICY)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
