//! Responses, error pages and security headers of the panel.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

use http::header::{CACHE_CONTROL, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use maud::Markup;

use super::components::{SCRIPT, STYLE_SHEET};
use crate::error_chain::ErrorChain;
use crate::host::{BackendError, BoxError, OverloadedError, RequestId};
use crate::http_util::{self, Content, ResponseBody};
#[cfg(feature = "webhooks")]
use crate::webhook_admin::WebhookAdminError;

/// Pages load scripts and style sheets of their own origin only, and images of their own origin and from `data:` URLs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

static SCRIPT_CONTENT: LazyLock<Content> = LazyLock::new(|| {
    let script = concat!(include_str!("../html/copy.js"), include_str!("script.js"));
    Content::tagged("text/javascript; charset=utf-8", script)
});

pub(super) type PanelResult<T> = Result<T, PanelError>;

pub(super) type PageResult = PanelResult<PageResponse>;

/// A response to `GET`, before it is adapted to `HEAD` and conditional requests.
pub(super) struct PageResponse {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    content: Option<Content>,
}

impl PageResponse {
    fn new(status: StatusCode, cache: &'static str, content: Option<Content>) -> Self {
        let mut headers = security_headers();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        Self { status, headers, content }
    }

    pub(super) fn page(status: StatusCode, page: Markup) -> Self {
        let content = Content::new("text/html; charset=utf-8", page.into_string());
        Self::new(status, "no-store", Some(content))
    }

    pub(super) fn see_other(path: &str) -> Self {
        Self::new(StatusCode::SEE_OTHER, "no-store", None).with_header(LOCATION, path)
    }

    /// Returns `style` or the script at a path below the base path; `None` for any other path.
    pub(super) fn asset(path: &str, style: &Content) -> Option<Self> {
        let content = match path {
            STYLE_SHEET => style.clone(),
            SCRIPT => Content::clone(&SCRIPT_CONTENT),
            _ => return None,
        };
        Some(Self::new(StatusCode::OK, "no-cache", Some(content)))
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        self.with_header(RETRY_AFTER, &http_util::retry_after(wait).to_string())
    }

    fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    pub(super) fn into_response(self, head: &Parts) -> Response<ResponseBody> {
        let Self { status, headers, content } = self;
        http_util::respond(&head.method, &head.headers, status, headers, content)
    }
}

/// Returns the security headers of all pages of the panel: they allow scripts and style sheets of the same origin only,
/// and images of the same origin and from `data:` URLs, and forbid frames. A host can use them for its own pages, for
/// example its sign-in page.
pub fn security_headers() -> HeaderMap {
    http_util::page_headers(CONTENT_SECURITY_POLICY)
}

/// An error that is shown as an error page.
#[derive(Debug, thiserror::Error)]
pub(super) enum PanelError {
    /// The page does not exist, or the member is not an administrator.
    #[error("not found")]
    NotFound,
    /// The form does not belong to the session, or comes from another origin.
    #[error("forbidden")]
    Forbidden,
    #[error("the form cannot be read")]
    BadForm,
    #[error("the form is too long")]
    LongForm,
    #[error(transparent)]
    Internal(BoxError),
}

impl PanelError {
    pub(super) fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }

    /// Returns the error page, which `document` renders from a title and a text. The source of an internal error is only
    /// logged.
    pub(super) fn into_response(
        self,
        id: RequestId,
        document: impl FnOnce(&str, &str) -> Markup,
    ) -> PageResponse {
        let mut retry_after = None;
        if let Self::Internal(source) = &self {
            tracing::error!(error = %ErrorChain(&**source), "internal error");
            let overload = OverloadedError::cause_of(&**source);
            retry_after = overload.map(|overload| overload.retry_after);
        }
        let id = id.as_str();
        let log = || format!("The server log has the cause, with the request id {id}.");
        let (status, title, text): (_, _, Cow<'static, str>) = match self {
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "Not found",
                "This page does not exist.".into(),
            ),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "Form rejected",
                "The form does not belong to your current session, or was sent from another site. Nothing was changed. Go back, reload the page and submit the form again.".into(),
            ),
            Self::BadForm => (
                StatusCode::BAD_REQUEST,
                "Invalid form",
                "The form could not be read. Nothing was changed. Go back and submit it again.".into(),
            ),
            Self::LongForm => (
                StatusCode::BAD_REQUEST,
                "Form too long",
                "The form is too long. Nothing was changed. Go back, shorten what you entered, and submit it again.".into(),
            ),
            Self::Internal(_) if retry_after.is_some() => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Overloaded",
                format!("The server is overloaded. Try again in a moment. {}", log()).into(),
            ),
            Self::Internal(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Internal error",
                format!("An internal error occurred. {}", log()).into(),
            ),
        };
        let response = PageResponse::page(status, document(title, &text));
        match retry_after {
            Some(wait) => response.retry_after(wait),
            None => response,
        }
    }
}

impl From<BackendError> for PanelError {
    fn from(error: BackendError) -> Self {
        Self::Internal(error.into_inner())
    }
}

/// Converts the errors that a page does not show beside a field.
#[cfg(feature = "webhooks")]
impl From<WebhookAdminError> for PanelError {
    fn from(error: WebhookAdminError) -> Self {
        match error {
            WebhookAdminError::EndpointNotFound => Self::NotFound,
            WebhookAdminError::Backend(source) => Self::Internal(source),
            other => Self::internal(other),
        }
    }
}
