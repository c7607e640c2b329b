//! One operation of the document, from one row.

use serde_json::{Map, Value, json};

use super::descriptions::note;
use super::responses;
use super::schemas::{Schemas, never_null};
use crate::api::endpoint::Described;
use crate::api::extract::params::Source;
use crate::api::row::{Row, Verb};
use crate::scope::{Scope, Surface};

pub(super) fn operation(
    row: &Row,
    surface: Surface,
    schemas: &mut Schemas,
    shared: &mut Map<String, Value>,
) -> Value {
    let described = row.op.describe(&mut schemas.inputs, &mut schemas.outputs);
    let mut operation = json!({
        "operationId": row.name,
        "summary": row.summary.trim_end_matches('.'),
        "description": description(row, surface),
        "tags": [row.tag],
        "security": security(row),
        "parameters": parameters(row, &described),
        "responses": responses::responses(row, surface, &described, shared),
        "x-scope": row.scope.as_str(),
        "x-ratelimit-cost": row.cost,
    });
    let known = field_scope(row, surface);
    if let (Some((field, scope)), Some(operation)) = (known, operation.as_object_mut()) {
        operation.insert("x-field-scopes".into(), json!({ field: scope.as_str() }));
    }
    if let (Source::Body, Some(operation)) = (described.source, operation.as_object_mut()) {
        let content = json!({ "application/json": { "schema": described.arguments } });
        operation.insert(
            "requestBody".into(),
            json!({ "required": true, "content": content }),
        );
    }
    operation
}

fn description(row: &Row, surface: Surface) -> String {
    let Row {
        summary,
        scope,
        cost,
        ..
    } = row;
    let unit = if *cost == 1 { "unit" } else { "units" };
    let token = match row.op.needs_token() {
        true => "Needs a token that carries",
        false => "Needs no token; one that is sent must carry",
    };
    let rules = format!("{token} `{scope}`. Costs {cost} {unit}.");
    let field = field_rule(row, surface);
    let parts = [*summary, note(row.name), &rules, &field];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The scope that `true` in a field of the body needs, if the surface knows it.
fn field_scope(row: &Row, surface: Surface) -> Option<(&'static str, Scope)> {
    let is_known = |scope| surface.scopes().any(|known| known == scope);
    row.field_scope.filter(|(_, scope)| is_known(*scope))
}

fn field_rule(row: &Row, surface: Surface) -> String {
    match (row.field_scope, field_scope(row, surface)) {
        (None, _) => String::new(),
        (_, Some((field, scope))) => format!(
            "`{field}: true` also needs the scope `{scope}`. Without it the answer is 403 `missing_scope` and nothing \
             is written."
        ),
        (Some((field, _)), None) => {
            format!("`{field}: true` is always refused here with 403 `missing_scope`.")
        }
    }
}

fn security(row: &Row) -> Value {
    if row.op.needs_token() {
        json!([{ "bearerAuth": [] }])
    } else {
        json!([{}, { "bearerAuth": [] }])
    }
}

fn parameters(row: &Row, described: &Described) -> Vec<Value> {
    let path = described
        .variables
        .iter()
        .map(|(name, schema)| parameter(name, "path", true, json!(schema)));
    let query = match described.source {
        Source::Query => query(&json!(described.arguments)),
        Source::Body => Vec::new(),
    };
    path.chain(query).chain(header(row)).collect()
}

/// A parameter for each property of the arguments.
fn query(arguments: &Value) -> Vec<Value> {
    let required = arguments.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|needed| needed == name));
    let properties = arguments
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    properties
        .map(|(name, schema)| {
            parameter(name, "query", is_required(name), never_null(schema.clone()))
        })
        .collect()
}

/// The description moves from the schema to the parameter, where tools look for it.
fn parameter(name: &str, place: &str, required: bool, mut schema: Value) -> Value {
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    json!({ "name": name, "in": place, "required": required, "description": description, "schema": schema })
}

fn header(row: &Row) -> Option<Value> {
    let (name, description, schema) = match row.verb {
        Verb::Post => (
            "Idempotency-Key",
            "Chosen by the client, such as a UUID. Makes this request safe to repeat: for 24 hours after a success the same request with the same key receives the stored response.",
            json!({ "type": "string", "pattern": "^[!-~]{1,64}$", "examples": ["5e5c1a52-31d6-4d4e-a0a4-1c6b0f0e7a11"] }),
        ),
        Verb::Get if !row.acts() => (
            "If-None-Match",
            "The etag of an answer that the client still has.",
            json!({ "type": "string" }),
        ),
        _ => return None,
    };
    Some(
        json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema }),
    )
}
