//! Null fields of request bodies ([protocol](crate::guide::protocol), section 5.5).

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::extract::error::InputResult;
use super::extract::value::{InputValue, reject_repeated};

/// Removes the null fields of a body. Keeps unknown and required fields, and fields whose schema allows null.
///
/// # Errors
/// [`InputError`] if the name of a field is repeated: the removal must not hide the repetition.
pub(super) fn remove<T: JsonSchema>(body: &mut InputValue<'_>) -> InputResult<()> {
    if !has_null(body) {
        return Ok(());
    }
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    remove_in(body, schema.as_value(), schema.as_value())
}

fn has_null(value: &InputValue<'_>) -> bool {
    match value {
        InputValue::Null => true,
        InputValue::List(items) => items.iter().any(has_null),
        InputValue::Object(fields) => fields.iter().any(|(_, value)| has_null(value)),
        _ => false,
    }
}

/// `root` contains the schemas to which others refer.
fn remove_in(value: &mut InputValue<'_>, schema: &Value, root: &Value) -> InputResult<()> {
    let schema = resolve(schema, root);
    match value {
        InputValue::List(items) => {
            let Some(schema) = schema.get("items") else {
                return Ok(());
            };
            items.iter_mut().enumerate().try_for_each(|(index, item)| {
                let removed = remove_in(item, schema, root);
                removed.map_err(|error| error.in_field(&format!("[{index}]")))
            })
        }
        InputValue::Object(fields) => {
            reject_repeated(fields)?;
            fields.retain(|(name, value)| {
                !matches!(value, InputValue::Null) || needs_null(name, schema)
            });
            fields.iter_mut().try_for_each(|(name, value)| {
                let Some(schema) = property(name, schema) else {
                    return Ok(());
                };
                let removed = remove_in(value, schema, root);
                removed.map_err(|error| error.in_field(name))
            })
        }
        _ => Ok(()),
    }
}

fn property<'a>(name: &str, schema: &'a Value) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// Returns `true` for a field that is unknown or required, or whose schema allows null.
fn needs_null(name: &str, schema: &Value) -> bool {
    let is_null = |value: &Value| *value == "null";
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
    property(name, schema).is_none_or(|field| {
        let types = field.get("type").and_then(Value::as_array);
        let mut choices = choices(field).filter_map(|choice| choice.get("type"));
        is_required || choices.any(is_null) || types.is_some_and(|types| types.iter().any(is_null))
    })
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    choices.into_iter().flatten()
}

/// Follows a reference, also one in a choice between a schema and null.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let choice = choices(schema).find(|choice| choice.get("$ref").is_some());
    let schema = choice.unwrap_or(schema);
    let reference = schema.get("$ref").and_then(Value::as_str);
    let referred = reference.and_then(|path| root.pointer(path.strip_prefix('#')?));
    referred.unwrap_or(schema)
}
