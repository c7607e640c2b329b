//! Validation of JSON against the schemas of the OpenAPI document. It is stricter than JSON Schema: no field may be missing
//! or unknown.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Resolves a `$ref`.
pub fn resolve_ref<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => resolve_ref(document, document.pointer(&reference[1..]).unwrap()),
        None => value,
    }
}

/// Validates `found`. An error contains the path of the invalid value.
pub fn check(document: &Value, schema: &Value, found: &Value) -> Result<(), String> {
    let schema = resolve_ref(document, schema);
    let choices = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|word| schema[word].as_array());
    if let Some(choices) = choices {
        let wrong = choices
            .iter()
            .map(|choice| check(document, choice, found).err());
        let wrong: Option<Vec<_>> = wrong.collect();
        return wrong.map_or(Ok(()), |reasons| Err(reasons.join("; ")));
    }
    let is = |kind: &Value| kind.as_str().is_some_and(|kind| is_a(found, kind));
    let kinds = schema["type"].as_array();
    expect(
        kinds.map_or(is(&schema["type"]), |kinds| kinds.iter().any(is)),
        schema,
        found,
    )?;
    let constant = schema.get("const").is_none_or(|only| only == found);
    let listed = schema["enum"]
        .as_array()
        .is_none_or(|all| all.contains(found));
    expect(constant && listed, schema, found)?;
    match found {
        Value::Object(fields) => check_fields(document, schema, fields),
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| check(document, &schema["items"], item)),
        _ => Ok(()),
    }
}

fn check_fields(
    document: &Value,
    schema: &Value,
    fields: &Map<String, Value>,
) -> Result<(), String> {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    let is_open = schema["additionalProperties"] == json!(true);
    let names: BTreeSet<_> = fields
        .keys()
        .filter(|name| !is_open || known.contains_key(*name))
        .collect();
    let required = schema["required"].as_array().map_or(&[][..], |names| names);
    let required: BTreeSet<_> = required.iter().filter_map(Value::as_str).collect();
    let all = known.keys().collect::<BTreeSet<_>>();
    if names != all || required != all.into_iter().map(String::as_str).collect() {
        return Err(format!("{names:?} are not all of {:?}", known.keys()));
    }
    let mut checked = known
        .iter()
        .filter_map(|(name, schema)| Some((name, schema, fields.get(name)?)));
    checked.try_for_each(|(name, schema, value)| {
        check(document, schema, value).map_err(|reason| format!("{name}: {reason}"))
    })
}

fn is_a(found: &Value, kind: &str) -> bool {
    match kind {
        "null" => found.is_null(),
        "boolean" => found.is_boolean(),
        "number" => found.is_number(),
        "integer" => found.is_i64() || found.is_u64(),
        "string" => found.is_string(),
        "array" => found.is_array(),
        "object" => found.is_object(),
        _ => false,
    }
}

fn expect(holds: bool, schema: &Value, found: &Value) -> Result<(), String> {
    holds
        .then_some(())
        .ok_or_else(|| format!("{found} is not as {schema} says"))
}
