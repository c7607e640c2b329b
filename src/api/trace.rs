//! The log lines of a request (`docs/protocol.md`, section 18.1). Never a token, a secret, a body or a query.

use std::time::Duration;

use http::StatusCode;
use tracing::field::Empty;
use tracing::{Span, record_all};

use super::authentication::AuthenticatedToken;
use super::context::RequestContext;
use super::error::ApiError;

const X_REQUEST_ID: &str = "x-request-id";

/// The span of one request; what is not known yet is recorded later.
pub(super) fn request_span(context: &RequestContext<'_>) -> Span {
    tracing::info_span!(
        "request",
        request_id = context.id.as_str(),
        client_request_id = client_request_id(context),
        method = %context.head.method,
        route = Empty,
        cost = Empty,
        owner = Empty,
        token = Empty,
        status = Empty,
        code = Empty,
        elapsed_ms = Empty,
    )
}

/// The id that the client gave the request, if it is short and plain.
fn client_request_id<'h>(context: &RequestContext<'h>) -> Option<&'h str> {
    let text = context.head.headers.get(X_REQUEST_ID)?.to_str().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    ((1..=64).contains(&text.len()) && text.bytes().all(is_plain)).then_some(text)
}

pub(super) fn record_identity(token: &AuthenticatedToken) {
    let lookup = token.presented.lookup.as_str();
    record_all!(Span::current(), owner = %token.owner, token = lookup);
}

/// Logs the reason of a refusal that the client does not see.
pub(super) fn log_error(error: &ApiError, request_id: &str) {
    match error {
        ApiError::Internal(source) => {
            tracing::error!(request_id, error = %source, "internal error");
        }
        ApiError::Overloaded(_) => tracing::warn!(request_id, "backend overloaded"),
        ApiError::Unauthenticated(reason) => {
            tracing::warn!(request_id, ?reason, "unauthenticated");
        }
        _ => {}
    }
}

/// Records the remaining fields at once: each call costs a subscriber a look-up of the span.
pub(super) fn on_response(
    context: &RequestContext<'_>,
    status: StatusCode,
    code: Option<&'static str>,
    elapsed: Duration,
) {
    record_all!(
        Span::current(),
        route = context.route,
        cost = context.charged_units,
        status = status.as_u16(),
        code = code,
        elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    );
    tracing::info!("request completed");
}
