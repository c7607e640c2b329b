//! Lists and objects that a client sends as strings with their JSON.

use serde_json::Value;
use serde_json::value::RawValue;

use super::argument_list::{Argument, Arguments, Text};
use super::schema::DEFINITIONS;
use crate::operation::extract::value::has_too_many_values;

/// Number of nested lists and objects in which strings are replaced. A schema that refers to itself has no bound.
const MAX_DEPTH: usize = 4;

/// Writes an object with these fields. Writes the list or the object that a string contains instead of the string where
/// the schema allows only a list or an object.
pub(super) fn write_arguments(fields: &[Argument<'_>], input: &Value, json: &mut String) {
    Writer { root: input, json }.write_fields(fields, input, MAX_DEPTH);
}

struct Writer<'a> {
    /// Schema that contains the definitions.
    root: &'a Value,
    json: &'a mut String,
}

impl<'a> Writer<'a> {
    fn write_fields(&mut self, fields: &[Argument<'_>], schema: &'a Value, depth: usize) {
        let properties = schema.get("properties");
        self.json.push('{');
        for (index, (name, value)) in fields.iter().enumerate() {
            if index > 0 {
                self.json.push(',');
            }
            self.json.push_str(&Value::from(&**name).to_string());
            self.json.push(':');
            let schema = properties.and_then(|properties| properties.get(&**name));
            self.write_value(value, schema, depth);
        }
        self.json.push('}');
    }

    fn write_value(&mut self, value: &RawValue, schema: Option<&'a Value>, depth: usize) {
        let schema = schema.map(|schema| self.resolve(schema));
        let opening = match schema.and_then(|schema| schema.get("type")?.as_str()) {
            Some("array") => "[",
            Some("object") => "{",
            _ => return self.json.push_str(value.get()),
        };
        let text = serde_json::from_str::<Text<'_>>(value.get());
        let contained = text.as_ref().ok().and_then(|Text(text)| contained(text, opening));
        let value = contained.unwrap_or(value);
        let is_expected = value.get().starts_with(opening);
        if !(is_expected && self.write_items(value, schema, depth)) {
            self.json.push_str(value.get());
        }
    }

    /// Writes a list or an object. Returns `false`, and writes nothing, if its items need no replacement.
    fn write_items(&mut self, value: &RawValue, schema: Option<&'a Value>, depth: usize) -> bool {
        let Some((schema, depth)) = schema.zip(depth.checked_sub(1)) else {
            return false;
        };
        if has_too_many_values(value.get().as_bytes()) {
            // The API refuses it.
            return false;
        }
        if schema.get("properties").is_some()
            && let Ok(Arguments(fields)) = serde_json::from_str(value.get())
        {
            self.write_fields(&fields, schema, depth);
            return true;
        }
        let items = serde_json::from_str::<Vec<&RawValue>>(value.get());
        let (Some(schema), Ok(items)) = (schema.get("items"), items) else {
            return false;
        };
        self.json.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.json.push(',');
            }
            self.write_value(item, Some(schema), depth);
        }
        self.json.push(']');
        true
    }

    /// Follows a reference to a definition.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(|path| path.as_str()?.strip_prefix(DEFINITIONS));
        let definition = name.and_then(|name| self.root.get("$defs")?.get(name));
        definition.unwrap_or(schema)
    }
}

/// Returns the JSON that a text contains, if it begins with a bracket.
fn contained<'a>(text: &'a str, opening: &str) -> Option<&'a RawValue> {
    let value: &RawValue = serde_json::from_str(text).ok()?;
    value.get().starts_with(opening).then_some(value)
}
