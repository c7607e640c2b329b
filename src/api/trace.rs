//! What the log says of a request (contract, section 13). Never a token, a secret, a body or a query.

use std::time::Duration;

use http::StatusCode;
use http::request::Parts;
use tracing::field::Empty;
use tracing::{Span, record_all};

use super::service::Trail;
use crate::api::authentication::Bearer;
use crate::api::error::Problem;
use crate::host::Refusal;
use crate::model::ForumId;

const CLIENTS_OWN: &str = "x-request-id";

/// The span of one request; what is not known yet is recorded on its way.
pub(super) fn span(request_id: &str, head: &Parts) -> Span {
    tracing::info_span!(
        "request",
        request_id,
        client_request_id = clients_own(head),
        method = %head.method,
        route = Empty,
        cost = Empty,
        owner = Empty,
        token = Empty,
        status = Empty,
        code = Empty,
        elapsed_ms = Empty,
    )
}

/// A client's own id stands beside ours when it is short and plain.
fn clients_own(head: &Parts) -> Option<&str> {
    let text = head.headers.get(CLIENTS_OWN)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    ((1..=64).contains(&text.len()) && text.bytes().all(plain)).then_some(text)
}

/// Puts the reason of a refusal into the log, where it stays: the client never sees it.
pub(super) fn noted(problem: Problem, request_id: &str) -> Problem {
    match problem {
        Problem::Internal(Some(source)) => {
            tracing::error!(request_id, error = %source, "internal error");
            Problem::Internal(None)
        }
        Problem::Overloaded(_) => {
            tracing::warn!(request_id, "backend overloaded");
            problem
        }
        Problem::Unauthenticated(reason) => {
            tracing::warn!(request_id, ?reason, "unauthenticated");
            problem
        }
        other => other,
    }
}

pub(super) fn bearer(bearer: Option<&Bearer>) {
    if let Some(bearer) = bearer {
        let (owner, token) = (&bearer.owner, bearer.lookup.as_str());
        record_all!(Span::current(), owner = %owner, token = token);
    }
}

/// A board that answered what the caller does not see is at fault.
pub(super) fn withheld(command: &str, forum: &ForumId) {
    tracing::warn!(command, %forum, "the board answered what the caller may not see; it was withheld");
}

/// Whoever has written a command, and not what is asked before it, would look for the 501 in the command.
pub(super) fn unplaced(command: &str, refusal: &Refusal) {
    if let Refusal::NotImplemented = refusal {
        tracing::info!(
            command,
            "not tried: `Board::forum_of` does not say where such a thing is"
        );
    }
}

/// All that was not known before, at once: each record costs a subscriber a look for the span.
pub(super) fn answered(
    trail: &Trail,
    status: StatusCode,
    code: Option<&'static str>,
    elapsed: Duration,
) {
    record_all!(
        Span::current(),
        route = trail.route,
        cost = trail.spent,
        status = status.as_u16(),
        code = code,
        elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    );
    tracing::info!("answered");
}
