//! Response objects: successes, and error statuses with their codes.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::api::endpoint::{ApiEndpoint, OperationSchemas};
use crate::model::ErrorCode;
use crate::scope::Surface;

/// Headers: name, description, type, and whether every response has it.
#[rustfmt::skip]
const HEADERS: &[(&str, &str, &str, bool)] = &[
    ("cache-control", "Caching policy of the response.", "string", true),
    ("vary", "Always `authorization`: responses depend on the token.", "string", true),
    ("x-content-type-options", "Always `nosniff`.", "string", true),
    ("x-ratelimit-limit", "Budget of the window, in units.", "integer", true),
    ("x-ratelimit-remaining", "Units that remain after this request.", "integer", true),
    ("x-ratelimit-reset", "End of the window as Unix time in seconds.", "integer", true),
    ("x-request-id", "Id of this request in the board's log.", "string", true),
    ("retry-after", "Seconds to wait before you retry the request.", "integer", false),
    ("www-authenticate", "Authentication scheme: Bearer.", "string", false),
    ("etag", "Strong validator of the body, for `if-none-match`.", "string", false),
    ("link", "Path of the next page with `rel=\"next\"`; absent on the last page.", "string", false),
    ("location", "Path of the created resource.", "string", false),
    ("idempotency-replayed", "`true` if this is a stored response; absent otherwise.", "string", false),
];

/// Returns the headers that these parts of the document refer to.
pub(super) fn headers_in(parts: &[&Map<String, Value>]) -> Map<String, Value> {
    let text = json!(parts).to_string();
    let used = HEADERS
        .iter()
        .filter(|(name, ..)| text.contains(&reference(name)));
    let header = |(name, description, kind, _): &(&str, &str, &str, bool)| {
        (
            (*name).to_owned(),
            json!({ "description": description, "schema": { "type": kind } }),
        )
    };
    used.map(header).collect()
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
    endpoint: &ApiEndpoint,
    surface: Surface,
    schemas: &OperationSchemas,
    shared: &mut Map<String, Value>,
) -> Map<String, Value> {
    let mut responses = Map::new();
    for status in schemas.statuses.iter().copied() {
        responses.insert(
            status.as_str().to_owned(),
            success(endpoint, status, schemas),
        );
    }
    if endpoint.is_conditional() {
        let headers = header_refs(&success_headers(
            endpoint,
            StatusCode::NOT_MODIFIED,
            schemas,
        ));
        let unchanged = "Not modified.";
        responses.insert(
            "304".into(),
            json!({ "description": unchanged, "headers": headers }),
        );
    }
    for (status, codes) in by_status(endpoint, schemas, surface) {
        responses.insert(status.as_str().to_owned(), error_response(&codes, shared));
    }
    if surface == Surface::Compact {
        let other = json!({ "description": "Any other error.", "headers": header_refs(&[]), "content": error_content(&[]) });
        responses.insert("default".into(), other);
    }
    responses
}

fn success(endpoint: &ApiEndpoint, status: StatusCode, schemas: &OperationSchemas) -> Value {
    let headers = header_refs(&success_headers(endpoint, status, schemas));
    let description = match status {
        StatusCode::CREATED => "Created.",
        StatusCode::NO_CONTENT => "Deleted.",
        _ if endpoint.method == Method::POST => "The resource already existed.",
        _ => "Success.",
    };
    let mut response = json!({ "description": description, "headers": headers });
    if let (true, Some(response)) = (status != StatusCode::NO_CONTENT, response.as_object_mut()) {
        let content = json!({ "application/json": { "schema": schemas.output } });
        response.insert("content".into(), content);
    }
    response
}

/// Returns the additional headers of a successful response.
fn success_headers(
    endpoint: &ApiEndpoint,
    status: StatusCode,
    schemas: &OperationSchemas,
) -> Vec<&'static str> {
    let headers = schemas.headers.iter().copied();
    let mut headers: Vec<_> = headers
        .filter(|name| *name != "location" || status == StatusCode::CREATED)
        .collect();
    headers.extend((endpoint.is_conditional()).then_some("etag"));
    headers.extend(
        endpoint
            .accepts_idempotency_key()
            .then_some("idempotency-replayed"),
    );
    headers
}

/// Returns the error codes of an operation on a surface, by status.
fn by_status(
    endpoint: &ApiEndpoint,
    schemas: &OperationSchemas,
    surface: Surface,
) -> BTreeMap<StatusCode, Vec<ErrorCode>> {
    let mut by_status: BTreeMap<StatusCode, Vec<ErrorCode>> = BTreeMap::new();
    for code in ErrorCode::of(surface).filter(|code| can_return(endpoint, schemas, *code)) {
        by_status.entry(code.status()).or_default().push(code);
    }
    // An overloaded backend. The compact surface documents it as `default`.
    if let Some(codes) = by_status.get_mut(&StatusCode::SERVICE_UNAVAILABLE) {
        codes.push(ErrorCode::InternalError);
    }
    by_status
}

fn can_return(endpoint: &ApiEndpoint, schemas: &OperationSchemas, code: ErrorCode) -> bool {
    match code {
        ErrorCode::NoSuchRoute => false,
        ErrorCode::NotFound => !schemas.path_params.is_empty(),
        code if ErrorCode::BOARD.contains(&code) => endpoint.board_errors.contains(&code),
        _ => true,
    }
}

/// Returns a reference to the response that all operations with these codes share.
fn error_response(codes: &[ErrorCode], shared: &mut Map<String, Value>) -> Value {
    let names: Vec<_> = codes.iter().map(|code| format!("{code:?}")).collect();
    let name = names.join("Or");
    shared.entry(&name).or_insert_with(|| response(codes));
    json!({ "$ref": format!("#/components/responses/{name}") })
}

/// Meaning of `internal_error` with status 503.
const OVERLOADED: &str =
    "The board is overloaded and did not execute the request. Retry after `retry-after` seconds.";

fn response(codes: &[ErrorCode]) -> Value {
    let offline = codes.contains(&ErrorCode::BoardOffline);
    let meaning = |code: &ErrorCode| match code {
        ErrorCode::InternalError if offline => OVERLOADED,
        code => code.meaning(),
    };
    let lines: Vec<_> = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), meaning(code)))
        .collect();
    let more: &[&str] = match codes.first().map(|code| code.status().as_u16()) {
        Some(401) => &["www-authenticate"],
        Some(429 | 409 | 503) => &["retry-after"],
        _ => &[],
    };
    json!({ "description": lines.join("\n\n"), "headers": header_refs(more), "content": error_content(codes) })
}

fn error_content(codes: &[ErrorCode]) -> Value {
    let example = |code: &ErrorCode| {
        let error = json!({ "code": code.as_str(), "message": code.meaning(), "requestId": "019b76da400070a1b2c3d4e5f6071829" });
        (
            code.as_str().to_owned(),
            json!({ "value": { "error": error } }),
        )
    };
    let examples: Map<_, _> = codes.iter().map(example).collect();
    json!({ "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" }, "examples": examples } })
}
