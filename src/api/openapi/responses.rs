//! Response objects: successes, and error statuses with their codes.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::components::Components;

use crate::host::{BoardError, OverloadedError};
use crate::model::{ErrorBody, ErrorCode, Expected};
use crate::operation::{
    ApiError, AuthFailure, ErrorMessages, InputError, OperationSchemas, OperationSpec,
};
use crate::scope::{Scope, Surface};

/// Headers: name, description, type, and `true` if every response has it.
#[rustfmt::skip]
const HEADERS: &[(&str, &str, &str, bool)] = &[
    ("cache-control", "Caching policy of the response.", "string", true),
    ("vary", "Contains `authorization`: responses depend on the token.", "string", true),
    ("x-content-type-options", "Always `nosniff`.", "string", true),
    ("x-ratelimit-cost", "Units that this request was charged.", "integer", true),
    ("x-ratelimit-limit", "Budget of the window, in units.", "integer", true),
    ("x-ratelimit-remaining", "Units that remain after this request.", "integer", true),
    ("x-ratelimit-reset", "End of the window as Unix time in seconds.", "integer", true),
    ("x-request-id", "Id of this request in the board's log.", "string", true),
    ("retry-after", "Seconds to wait before you retry the request.", "integer", false),
    ("www-authenticate", "Authentication scheme: `Bearer`; for `missing_scope` with the scope that the token lacks, for example `Bearer error=\"insufficient_scope\", scope=\"posts:write\"`.", "string", false),
    ("x-error-reason", "Reason of the error, for programs: one of the [reasons](#about-errors), or another one of the board. Not every error has one.", "string", false),
    ("x-error-field", "Field, parameter or header that is the cause, for example `poll.options[1]`. The message names it alike.", "string", false),
    ("etag", "Strong validator of the body, for `if-none-match`.", "string", false),
    ("link", "Absolute path of the next page with `rel=\"next\"`, for example `</api/v1/forums/2/threads?after=…>`; absent on the last page.", "string", false),
    ("location", "Absolute path of the created resource, for example `/api/v1/threads/16`.", "string", false),
    ("idempotency-replayed", "`true` if this is a stored response; absent otherwise.", "string", false),
];

/// Returns the headers that these parts of the document refer to.
pub(super) fn headers_in(parts: &[&Map<String, Value>]) -> Map<String, Value> {
    let mut references = HashSet::new();
    for part in parts {
        part.values().for_each(|value| collect_references(value, &mut references));
    }
    let used = HEADERS.iter().filter(|(name, ..)| references.contains(&*reference(name)));
    let header = |(name, description, kind, _): &(&str, &str, &str, bool)| {
        ((*name).to_owned(), json!({ "description": description, "schema": { "type": kind } }))
    };
    used.map(header).collect()
}

fn collect_references<'a>(part: &'a Value, references: &mut HashSet<&'a str>) {
    match part {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| collect_references(field, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        _ => {}
    }
}

fn reference(header: &str) -> String {
    format!("#/components/headers/{header}")
}

/// Returns references to the headers of every response and to `more`.
fn header_refs(more: &[&str]) -> Map<String, Value> {
    HEADERS
        .iter()
        .filter(|(name, _, _, always)| *always || more.contains(name))
        .map(|(name, ..)| ((*name).into(), json!({ "$ref": reference(name) })))
        .collect()
}

pub(super) fn responses(
    spec: &OperationSpec,
    schemas: &OperationSchemas,
    components: &mut Components<'_>,
) -> Map<String, Value> {
    let mut responses = Map::new();
    for status in schemas.statuses.iter().copied() {
        let create = || success(spec, status, schemas);
        let response = match status {
            StatusCode::NO_CONTENT if spec.method == Method::DELETE => {
                components.share_response("Deleted".into(), create)
            }
            _ => create(),
        };
        responses.insert(status.as_str().to_owned(), response);
    }
    if spec.is_conditional() {
        let headers = success_headers(spec, StatusCode::NOT_MODIFIED, schemas);
        let name = if headers.contains(&"link") { "PageNotModified" } else { "NotModified" };
        let not_modified =
            || json!({ "description": "Not modified.", "headers": header_refs(&headers) });
        let reference = components.share_response(name.into(), not_modified);
        responses.insert("304".into(), reference);
    }
    let messages = components.error_messages;
    for (status, codes) in by_status(spec, schemas, components.surface) {
        let name = component_name(status, &codes);
        let reference =
            components.share_response(name.into(), || error_response(status, &codes, messages));
        responses.insert(status.as_str().to_owned(), reference);
    }
    if components.surface == Surface::Compact {
        let reference = components.share_response("OtherError".into(), || other_error(messages));
        responses.insert("default".into(), reference);
    }
    responses
}

fn success(spec: &OperationSpec, status: StatusCode, schemas: &OperationSchemas) -> Value {
    let headers = header_refs(&success_headers(spec, status, schemas));
    let description = match status {
        StatusCode::CREATED => "Created.",
        StatusCode::NO_CONTENT if spec.method == Method::DELETE => "Deleted.",
        StatusCode::OK if schemas.statuses.contains(&StatusCode::CREATED) => {
            "The resource already existed."
        }
        _ => "Success.",
    };
    let mut response = json!({ "description": description, "headers": headers });
    if let (true, Some(response)) = (status != StatusCode::NO_CONTENT, response.as_object_mut()) {
        let content = json!({ "application/json": { "schema": schemas.output, "example": schemas.output_example } });
        response.insert("content".into(), content);
    }
    response
}

/// Returns the additional headers of a successful response.
fn success_headers(
    spec: &OperationSpec,
    status: StatusCode,
    schemas: &OperationSchemas,
) -> Vec<&'static str> {
    let mut headers: Vec<_> = schemas
        .headers
        .iter()
        .copied()
        .filter(|name| *name != "location" || status == StatusCode::CREATED)
        .collect();
    headers.extend((spec.is_conditional()).then_some("etag"));
    headers.extend(spec.accepts_idempotency_key().then_some("idempotency-replayed"));
    headers
}

/// Returns the error codes of an operation on a surface, by status.
fn by_status(
    spec: &OperationSpec,
    schemas: &OperationSchemas,
    surface: Surface,
) -> BTreeMap<StatusCode, Vec<ErrorCode>> {
    let mut by_status: BTreeMap<StatusCode, Vec<ErrorCode>> = BTreeMap::new();
    for code in ErrorCode::of(surface).filter(|code| can_return(spec, schemas, *code)) {
        by_status.entry(code.status()).or_default().push(code);
    }
    // The error of a request that was not run. The compact surface documents it as an example of `default`.
    if let Some(codes) = by_status.get_mut(&StatusCode::SERVICE_UNAVAILABLE) {
        codes.push(ErrorCode::InternalError);
    }
    by_status
}

fn can_return(spec: &OperationSpec, schemas: &OperationSchemas, code: ErrorCode) -> bool {
    match code {
        ErrorCode::NoSuchRoute => false,
        ErrorCode::PathNotFound => !schemas.path_params.is_empty() || schemas.is_in_forum,
        // The library returns it if it refuses the idempotency key.
        ErrorCode::Conflict if spec.accepts_idempotency_key() => true,
        code if ErrorCode::BOARD.contains(&code) => spec.board_errors.contains(&code),
        _ => true,
    }
}

/// Returns the name of the response that all operations with these codes share. The name depends on the use of the response,
/// so that a further code of the library does not change it.
fn component_name(status: StatusCode, codes: &[ErrorCode]) -> &'static str {
    let is_of_board = codes.iter().any(|code| ErrorCode::BOARD.contains(code));
    match (status.as_u16(), is_of_board) {
        (400, _) => "BadRequest",
        (401, _) => "Unauthenticated",
        (403, false) => "Forbidden",
        (403, true) => "WriteForbidden",
        (404, false) => "NotFound",
        (404, true) if codes.contains(&ErrorCode::PathNotFound) => "WriteNotFound",
        (404, true) => "ReferenceNotFound",
        (409, _) => "Conflict",
        (422, _) => "ValidationFailed",
        (429, false) => "RateLimited",
        (429, true) => "WriteRateLimited",
        (501, _) => "NotImplemented",
        (503, _) => "Unavailable",
        _ => "InternalError",
    }
}

/// Returns the response of all errors that the compact surface does not list, with one of them as an example.
fn other_error(messages: &ErrorMessages) -> Value {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let mut response = error_response(status, &[ErrorCode::InternalError], messages);
    if let Some(Value::String(description)) = response.get_mut("description") {
        *description = format!("Any other error, for example 503 {description}");
    }
    response
}

fn error_response(status: StatusCode, codes: &[ErrorCode], messages: &ErrorMessages) -> Value {
    let line = |code: &ErrorCode| format!("`{}`: {}", code.as_str(), code.meaning(status));
    let lines: Vec<_> = codes.iter().map(line).collect();
    let more: &[&str] = match status.as_u16() {
        400 => &["x-error-reason", "x-error-field"],
        401 => &["www-authenticate"],
        403 if !codes.contains(&ErrorCode::Forbidden) => &["www-authenticate"],
        403 => &["www-authenticate", "x-error-reason", "x-error-field"],
        404 if codes.contains(&ErrorCode::NotFound) => &["x-error-reason", "x-error-field"],
        409 | 422 => &["retry-after", "x-error-reason", "x-error-field"],
        429 if codes.contains(&ErrorCode::BoardRateLimited) => {
            &["retry-after", "x-error-reason", "x-error-field"]
        }
        429 => &["retry-after"],
        503 => &["retry-after", "x-error-reason"],
        _ => &[],
    };
    let example = |code: &ErrorCode| {
        let body = example_body(*code, status, messages);
        (code.as_str().to_owned(), json!({ "value": body }))
    };
    let examples: Map<_, _> = codes.iter().map(example).collect();
    let content =
        json!({ "schema": { "$ref": "#/components/schemas/ErrorBody" }, "examples": examples });
    json!({
        "description": lines.join("\n\n"),
        "headers": header_refs(more),
        "content": { "application/json": content },
    })
}

fn example_body(code: ErrorCode, status: StatusCode, messages: &ErrorMessages) -> ErrorBody {
    let error = example_error(code, status);
    let (code, message) = error.describe(messages);
    ErrorBody::new(code, message.into(), "019b76da400070a1b2c3d4e5f6071829")
}

fn example_error(code: ErrorCode, status: StatusCode) -> ApiError {
    match code {
        ErrorCode::BadRequest => InputError::expected("limit", Expected::LIMIT).into(),
        ErrorCode::Unauthenticated => AuthFailure::Unknown.into(),
        ErrorCode::MissingScope => ApiError::MissingScope(Scope::POSTS_WRITE),
        ErrorCode::OwnerUnavailable => ApiError::OwnerUnavailable,
        ErrorCode::NoSuchRoute => ApiError::NoSuchRoute,
        ErrorCode::PathNotFound => ApiError::NotFound,
        ErrorCode::RateLimited => ApiError::RateLimited(Duration::ZERO),
        ErrorCode::InternalError if status == StatusCode::SERVICE_UNAVAILABLE => {
            ApiError::internal(OverloadedError::new(Duration::ZERO))
        }
        ErrorCode::InternalError => ApiError::internal("an example"),
        ErrorCode::NotImplemented => ApiError::NotImplemented,
        ErrorCode::BoardOffline => ApiError::BoardOffline(None),
        ErrorCode::Forbidden => {
            BoardError::forbidden("This thread is locked.").with_reason("locked").into()
        }
        ErrorCode::NotFound => ApiError::BodyNotFound,
        ErrorCode::Conflict => BoardError::stale_version(
            "The content has changed in the meantime. Load it again before you change it.",
        )
        .into(),
        ErrorCode::Validation => {
            BoardError::validation("title", "a title is required.").with_reason("required").into()
        }
        ErrorCode::BoardRateLimited => {
            BoardError::rate_limited("No more than 60 posts per hour are allowed.").into()
        }
    }
}
