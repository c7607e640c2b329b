//! The responses of an operation: its successes, and each error status with its codes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::endpoint::Described;
use crate::api::error::Code;
use crate::api::row::Row;
use crate::scope::Surface;

/// Headers, by their names in lower case: what they say, their type, and whether every response carries them.
#[rustfmt::skip]
const HEADERS: &[(&str, &str, &str, bool)] = &[
    ("cache-control", "Who may keep the answer: only the caller, or nobody.", "string", true),
    ("vary", "That answers differ from token to token.", "string", true),
    ("x-content-type-options", "nosniff: the content type is to be believed.", "string", true),
    ("x-ratelimit-limit", "The budget of the window, in units.", "integer", true),
    ("x-ratelimit-remaining", "What is left of it after this request, in units.", "integer", true),
    ("x-ratelimit-reset", "When the window ends: Unix time in seconds.", "integer", true),
    ("x-request-id", "The id of this request in the board's log.", "string", true),
    ("retry-after", "How many seconds to wait before the request is sent again.", "integer", false),
    ("www-authenticate", "The scheme to authenticate with: Bearer.", "string", false),
    ("etag", "A strong tag of the body, to be sent as if-none-match.", "string", false),
    ("link", "The path of the next page, rel=\"next\"; absent when nothing follows.", "string", false),
    ("location", "The path of what was created.", "string", false),
    ("idempotency-replayed", "true when this is a stored response; absent otherwise.", "string", false),
];

/// The headers that these parts of the document refer to.
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

/// References to the headers that every response carries, and to these.
fn carrying(more: &[&str]) -> Map<String, Value> {
    let carried = HEADERS.iter().map(|(name, _, _, always)| (*name, *always));
    let names = carried
        .filter(|(name, always)| *always || more.contains(name))
        .map(|(name, _)| name);
    names
        .map(|name| (name.into(), json!({ "$ref": reference(name) })))
        .collect()
}

pub(super) fn responses(
    row: &Row,
    surface: Surface,
    described: &Described,
    shared: &mut Map<String, Value>,
) -> Map<String, Value> {
    let mut responses = Map::new();
    for status in row.op.statuses() {
        responses.insert(status.to_string(), success(row, status, described));
    }
    if row.is_read() && !row.acts() {
        let headers = carrying(&brought(row, 304, described));
        let unchanged = "What the client has is still right.";
        responses.insert(
            "304".into(),
            json!({ "description": unchanged, "headers": headers }),
        );
    }
    for (status, codes) in by_status(row, surface) {
        responses.insert(status.to_string(), refusal(&codes, shared));
    }
    if surface == Surface::Compact {
        let other = json!({ "description": "Any other refusal.", "headers": carrying(&[]), "content": error_content(&[]) });
        responses.insert("default".into(), other);
    }
    responses
}

fn success(row: &Row, status: u16, described: &Described) -> Value {
    let headers = carrying(&brought(row, status, described));
    let mut response = json!({ "description": row.summary, "headers": headers });
    if let (true, Some(response)) = (status != 204, response.as_object_mut()) {
        let content = json!({ "application/json": { "schema": described.reply } });
        response.insert("content".into(), content);
    }
    response
}

/// The headers that an answer has beside those that every response carries.
fn brought(row: &Row, status: u16, described: &Described) -> Vec<&'static str> {
    let of_the_reply = described.headers.iter().copied();
    let mut headers: Vec<_> = of_the_reply
        .filter(|name| *name != "location" || status == 201)
        .collect();
    headers.extend((row.is_read() && !row.acts()).then_some("etag"));
    headers.extend(row.takes_key().then_some("idempotency-replayed"));
    headers
}

/// The codes that an operation can answer and the surface lists.
fn by_status(row: &Row, surface: Surface) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::of(surface).filter(|code| can_answer(row, *code)) {
        by_status.entry(code.status()).or_default().push(code);
    }
    // An overloaded backend. The compact surface has `default` for it.
    if let Some(codes) = by_status.get_mut(&503) {
        codes.push(Code::InternalError);
    }
    by_status
}

fn can_answer(row: &Row, code: Code) -> bool {
    match code {
        Code::NoSuchRoute => false,
        Code::NotFound => row.path.contains('{'),
        code => !row.is_read() || !code.is_the_boards(),
    }
}

/// A reference to the response that all operations with these codes share.
fn refusal(codes: &[Code], shared: &mut Map<String, Value>) -> Value {
    let names: Vec<_> = codes.iter().map(|code| format!("{code:?}")).collect();
    let name = names.join("Or");
    shared.entry(&name).or_insert_with(|| response(codes));
    json!({ "$ref": format!("#/components/responses/{name}") })
}

fn response(codes: &[Code]) -> Value {
    let lines: Vec<_> = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), code.meaning()))
        .collect();
    let more: &[&str] = match codes.first().map(|code| code.status()) {
        Some(401) => &["www-authenticate"],
        Some(429 | 409 | 503) => &["retry-after"],
        _ => &[],
    };
    json!({ "description": lines.join("\n\n"), "headers": carrying(more), "content": error_content(codes) })
}

fn error_content(codes: &[Code]) -> Value {
    let example = |code: &Code| {
        let error = json!({ "code": code.as_str(), "message": code.meaning(), "requestId": "019b76da400070a1b2c3d4e5f6071829" });
        (
            code.as_str().to_owned(),
            json!({ "value": { "error": error } }),
        )
    };
    let examples: Map<_, _> = codes.iter().map(example).collect();
    json!({ "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" }, "examples": examples } })
}
