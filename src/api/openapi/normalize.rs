//! Schema transformations for client generators and other tools.

use schemars::Schema;
use schemars::generate::Contract;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

/// Keyword with the values of an enumeration to which later versions of the API can add values.
pub(super) const EXTENSIBLE_ENUM: &str = "x-extensible-enum";

/// Normalizes schemas:
///
/// - The lines of a paragraph of a description become one line. Comments in the source break them at the margin.
/// - Unsigned formats, which OpenAPI does not have, become `int64`. The minimum stays.
/// - A `oneOf` of constants becomes an `enum`.
/// - In responses, an `enum` of texts becomes `x-extensible-enum`: a client accepts the values of later versions.
/// - A default is removed, because client generators make a field with a default required. It moves to the description
///   unless the description already states it. A default of `null` or of a required field does not move.
#[derive(Clone)]
pub(super) struct NormalizeSchemas {
    pub(super) contract: Contract,
}

impl Transform for NormalizeSchemas {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = joined_lines(description);
        }
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(|format| format.starts_with("uint")) {
            schema.insert("format".into(), "int64".into());
        }
        if let Some(choices) = choices(schema) {
            enumerate(schema, choices);
        }
        if self.contract == Contract::Serialize {
            open_enumeration(schema);
        }
        let required = required(schema);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            describe_default(property, required.contains(name));
        }
        transform_subschemas(self, schema);
    }
}

pub(super) fn joined_lines(text: &str) -> String {
    let is_list = |paragraph: &str| paragraph.starts_with(['-', '|']);
    let paragraphs = text.split("\n\n").map(|paragraph| {
        if is_list(paragraph) { paragraph.to_owned() } else { paragraph.replace('\n', " ") }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Returns the values of a `oneOf` of described constants, and a list item for each of them.
fn choices(schema: &Schema) -> Option<(Vec<Value>, Vec<String>)> {
    let choices = schema.get("oneOf")?.as_array()?.iter();
    let choice = |choice: &Value| {
        let value = choice.get("const")?.as_str()?;
        let meaning = choice.get("description")?.as_str()?;
        Some((value.into(), format!("- `{value}`: {meaning}")))
    };
    choices.map(choice).collect()
}

fn enumerate(schema: &mut Schema, (values, lines): (Vec<Value>, Vec<String>)) {
    schema.remove("oneOf");
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), values.into());
    append(schema.get_mut("description"), &format!("\n\n{}", lines.join("\n")));
}

/// Replaces an `enum` of texts, which can contain null, by the keyword `x-extensible-enum` with the texts.
fn open_enumeration(schema: &mut Schema) {
    let values = schema.get("enum").and_then(Value::as_array);
    let is_text = |value: &Value| value.is_string() || value.is_null();
    let texts: Vec<_> = match values {
        Some(values) if values.iter().all(is_text) => {
            values.iter().filter(|value| value.is_string()).cloned().collect()
        }
        _ => return,
    };
    schema.remove("enum");
    schema.insert(EXTENSIBLE_ENUM.into(), texts.into());
}

fn required(schema: &Schema) -> Vec<String> {
    let names = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

fn describe_default(property: &mut Value, required: bool) {
    let default = property.as_object_mut().and_then(|fields| fields.remove("default"));
    let described = default.filter(|default| !required && !default.is_null());
    let description = property.get_mut("description");
    let is_stated = |text: &Value| text.as_str().is_some_and(|text| text.contains("Default: "));
    if let (Some(default), false) = (described, description.as_deref().is_some_and(is_stated)) {
        append(description, &format!(" Default: `{default}`."));
    }
}

fn append(description: Option<&mut Value>, text: &str) {
    if let Some(Value::String(description)) = description {
        description.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use schemars::json_schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_enumerations_of_texts_in_responses_are_open() {
        for (values, texts) in [
            (json!(["a", "b"]), Some(json!(["a", "b"]))),
            (json!(["a", null]), Some(json!(["a"]))),
            (json!(["a", 1]), None),
            (json!([1, 2]), None),
            (json!([1, null]), None),
        ] {
            for contract in [Contract::Serialize, Contract::Deserialize] {
                let open = texts.as_ref().filter(|_| contract == Contract::Serialize);
                let mut schema = json_schema!({ "enum": values });
                NormalizeSchemas { contract }.transform(&mut schema);
                assert_eq!(schema.get(EXTENSIBLE_ENUM), open, "{values}");
                assert_eq!(schema.get("enum").is_none(), open.is_some(), "{values}");
            }
        }
    }
}
