//! An answer before its headers are attached.

use std::time::Duration;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::Messages;
use crate::api::error::{KeyConflict, Problem};
use crate::store::{Kept, ResourceIds};

/// What a step of the road gives, and what the exit makes a response of.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Bytes,
    /// Its error code, if it is a refusal.
    pub(super) code: Option<&'static str>,
    /// A path below the mount.
    pub(super) location: Option<String>,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    pub(super) retry_after: Option<Duration>,
    /// True if it is a stored response.
    pub(super) replayed: bool,
    /// Ids of what the response is about, stored with it.
    pub(super) resource: ResourceIds,
}

/// The body of every refusal.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErrorBody<'a> {
    /// What was refused, and why.
    error: ErrorObject<'a>,
}

/// What was refused, and why.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ErrorObject<'a> {
    /// Stable and machine-readable: one of those in the table of errors.
    code: &'static str,
    /// For humans, in the board's language.
    message: &'a str,
    /// The id under which the board's log knows this request.
    request_id: &'a str,
}

impl Answer {
    pub(super) fn refusal(problem: &Problem, messages: &Messages, request_id: &str) -> Self {
        let code = problem.code();
        let message = problem.message(messages);
        let error = ErrorObject {
            code: code.as_str(),
            message: &message,
            request_id,
        };
        Self {
            status: problem.status(),
            body: serde_json::to_vec(&ErrorBody { error })
                .unwrap_or_default()
                .into(),
            code: Some(code.as_str()),
            retry_after: retry_after(problem),
            ..Self::default()
        }
    }
}

fn retry_after(problem: &Problem) -> Option<Duration> {
    match problem {
        Problem::RateLimited(after) | Problem::Overloaded(after) => Some(*after),
        Problem::Board(_, _, after) => *after,
        Problem::Key(KeyConflict::Running) => Some(Duration::from_secs(1)),
        _ => None,
    }
}

impl From<&Answer> for Kept {
    fn from(answer: &Answer) -> Self {
        Self {
            status: answer.status,
            location: answer.location.clone(),
            body: answer.body.clone(),
            resource: answer.resource.clone(),
        }
    }
}

impl From<Kept> for Answer {
    fn from(kept: Kept) -> Self {
        let Kept {
            status,
            location,
            body,
            resource,
        } = kept;
        Self {
            status,
            resource,
            location,
            body,
            replayed: true,
            ..Self::default()
        }
    }
}
