//! Operation objects, one for each endpoint.

use http::Method;
use serde_json::{Value, json};

use super::components::Components;
use super::normalize::joined_lines;
use super::{responses, strip_null};
use crate::operation::{
    AFTER, InputSchema, LIMIT, Operation, OperationSchemas, OperationSpec, ScopedField, Source,
};
use crate::scope::Scopes;

const IDEMPOTENCY_KEY: &str = "IdempotencyKey";
const IF_NONE_MATCH: &str = "IfNoneMatch";

/// Returns the header parameters that operations share.
pub(super) fn shared_parameters() -> [(String, Value); 2] {
    let idempotency_key = json!({
        "type": "string",
        "pattern": "^[!-~]{1,64}$",
        "description": "A key chosen by the client, for example a UUID: 1 to 64 visible ASCII characters. It makes the \
            request safe to retry: for 24 hours after a success the same request with the same key receives the stored \
            response. Only requests with a token can have a key.",
    });
    let if_none_match = json!({
        "type": "string",
        "description": "The `etag` of a cached response. If nothing has changed, the response is a 304 without a body.",
    });
    let header = |name, schema| parameter(name, "header", false, schema);
    [
        (IDEMPOTENCY_KEY.into(), header("Idempotency-Key", idempotency_key)),
        (IF_NONE_MATCH.into(), header("If-None-Match", if_none_match)),
    ]
}

pub(super) fn operation(operation: &Operation, components: &mut Components<'_>) -> Value {
    let scopes = components.scopes;
    let schemas = &mut components.schemas;
    let Operation { spec, handler } = operation;
    let needs_token = handler.needs_token();
    let (inputs, outputs) = (&mut schemas.inputs, &mut schemas.outputs);
    let operation_schemas = handler.describe(spec, components.extra_types, inputs, outputs);
    let mut operation = json!({
        "operationId": spec.id,
        "summary": spec.summary.trim_end_matches('.'),
        "description": description(spec, needs_token, operation_schemas.input.field_scope, scopes),
        "tags": [spec.tag.name],
        "security": security(needs_token),
        "parameters": parameters(spec, &operation_schemas, components),
        "responses": responses::responses(spec, &operation_schemas, components),
        "x-scope": spec.scope.as_str(),
        "x-ratelimit-cost": spec.cost,
    });
    let field_scope = known_scope(operation_schemas.input.field_scope, scopes);
    if let (Some((field, scope)), Some(operation)) = (field_scope, operation.as_object_mut()) {
        operation.insert("x-field-scopes".into(), json!({ field: scope.as_str() }));
    }
    if let (false, Some(operation)) = (spec.example_note.is_empty(), operation.as_object_mut()) {
        operation.insert("x-example-note".into(), spec.example_note.into());
    }
    if let (Some(example), Some(operation)) =
        (operation_schemas.input.example, operation.as_object_mut())
    {
        let content = json!({ "application/json": { "schema": operation_schemas.input.schema, "example": example } });
        let body = json!({ "required": true, "content": content });
        operation.insert("requestBody".into(), body);
    }
    operation
}

/// Beginnings of the paragraph about scope and cost in the description of an operation: for one that requires a token, and for
/// one that does not.
const SCOPE_RULES: [&str; 2] = [
    "Requires a token with the scope",
    "Requires no token. If you send a token, it must have the scope",
];

/// Returns whether a paragraph of the description of an operation is the one about its scope and its cost.
#[cfg(feature = "reference")]
pub(crate) fn states_scope_and_cost(paragraph: &str) -> bool {
    SCOPE_RULES.iter().any(|rule| paragraph.starts_with(rule)) && paragraph.contains(". Costs ")
}

fn description(
    spec: &OperationSpec,
    needs_token: bool,
    field_scope: Option<ScopedField>,
    scopes: &Scopes,
) -> String {
    let OperationSpec { notes, scope, cost, .. } = spec;
    let unit = if *cost == 1 { "unit" } else { "units" };
    let [with_token, without_token] = SCOPE_RULES;
    let rule = if needs_token { with_token } else { without_token };
    let rules = format!("{rule} `{scope}`. Costs {cost} {unit}.");
    let field = field_rule(field_scope, scopes);
    let parts = [&**notes, &rules, &field];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns the scope that `true` in a field of the body requires, if the surface has it.
fn known_scope(field_scope: Option<ScopedField>, scopes: &Scopes) -> Option<ScopedField> {
    field_scope.filter(|(_, scope)| scopes.contains(*scope))
}

fn field_rule(field_scope: Option<ScopedField>, scopes: &Scopes) -> String {
    match (field_scope, known_scope(field_scope, scopes)) {
        (None, _) => String::new(),
        (_, Some((field, scope))) => format!(
            "`{field}: true` also requires the scope `{scope}`. Without it the response is 403 `missing_scope` and nothing \
             is written."
        ),
        (Some((name, _)), None) => {
            format!("`{name}: true` is always refused with 403 `missing_scope`.")
        }
    }
}

fn security(needs_token: bool) -> Value {
    if needs_token { json!([{ "bearerAuth": [] }]) } else { json!([{}, { "bearerAuth": [] }]) }
}

/// Returns the parameters of an operation. Variables of paths, and the parameters of every list, are shared components.
fn parameters(
    spec: &OperationSpec,
    operation_schemas: &OperationSchemas,
    components: &mut Components<'_>,
) -> Vec<Value> {
    let mut parameters = Vec::new();
    for (name, schema) in &operation_schemas.path_params {
        let variable = parameter(name, "path", true, json!(schema));
        parameters.push(components.share_parameter(component_name(name), variable));
    }
    if operation_schemas.source == Source::Query {
        for (name, parameter) in query(&operation_schemas.input) {
            parameters.push(match &*name {
                LIMIT | AFTER => components.share_parameter(component_name(&name), parameter),
                _ => parameter,
            });
        }
    }
    parameters.extend(header(spec));
    parameters
}

/// Returns the name of the component of a parameter: `ThreadId` for `threadId`.
fn component_name(parameter: &str) -> String {
    let mut characters = parameter.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Returns a parameter for each property of the schema, with its name.
fn query(input: &InputSchema) -> Vec<(String, Value)> {
    let params = json!(input.schema);
    let required = params.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|needed| needed == name));
    let mut properties: Vec<_> =
        params.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    // Forms and the functions of generated clients have the parameters in this order.
    let position = |name: &str| input.order.iter().position(|other| *other == name);
    properties.sort_by_key(|(name, _)| (!is_required(name), position(name).unwrap_or(usize::MAX)));
    let as_parameter = |(name, schema): (&String, &Value)| {
        let schema = strip_null(schema.clone());
        (name.clone(), parameter(name, "query", is_required(name), schema))
    };
    properties.into_iter().map(as_parameter).collect()
}

/// Builds a parameter. Moves the description and the first example from the schema to the parameter, where tools expect
/// them.
fn parameter(name: &str, place: &str, required: bool, mut schema: Value) -> Value {
    let mut take = |keyword| schema.as_object_mut()?.remove(keyword);
    let (description, examples) = (take("description"), take("examples"));
    let description = description.as_ref().and_then(Value::as_str).map(joined_lines);
    let mut parameter = json!({
        "name": name, "in": place, "required": required, "description": description, "schema": schema,
    });
    let example = examples.as_ref().and_then(|examples| examples.get(0));
    if let (Some(example), Some(parameter)) = (example, parameter.as_object_mut()) {
        parameter.insert("example".into(), example.clone());
    }
    parameter
}

fn header(spec: &OperationSpec) -> Option<Value> {
    let name = match spec.method {
        Method::POST => IDEMPOTENCY_KEY,
        Method::GET if !spec.has_side_effects => IF_NONE_MATCH,
        _ => return None,
    };
    Some(json!({ "$ref": format!("#/components/parameters/{name}") }))
}
