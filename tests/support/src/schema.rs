//! Validation of JSON against the schemas of the OpenAPI document. It is stricter than JSON Schema: no field of a response
//! may be missing, and no field may be unknown, unless the schema allows additional fields.

use std::collections::BTreeSet;

use regex_automata::nfa::thompson::pikevm::PikeVM;
use serde_json::{Map, Value, json};

/// Resolves a `$ref`.
pub fn resolve_ref<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => resolve_ref(document, document.pointer(&reference[1..]).unwrap()),
        None => value,
    }
}

/// Validates a response. An error contains the path of the invalid value.
pub fn check(document: &Value, schema: &Value, found: &Value) -> Result<(), String> {
    Validator(document, Direction::Response).check(schema, found)
}

/// Validates a request, which can omit optional fields. An error contains the path of the invalid value.
pub fn check_request(document: &Value, schema: &Value, found: &Value) -> Result<(), String> {
    Validator(document, Direction::Request).check(schema, found)
}

#[derive(PartialEq)]
enum Direction {
    Request,
    Response,
}

struct Validator<'a>(&'a Value, Direction);

impl Validator<'_> {
    fn check(&self, schema: &Value, found: &Value) -> Result<(), String> {
        let schema = resolve_ref(self.0, schema);
        let mut words = ["anyOf", "oneOf"].into_iter();
        let choices = words.find_map(|word| schema[word].as_array());
        if let Some(choices) = choices {
            let wrong: Option<Vec<_>> =
                choices.iter().map(|choice| self.check(choice, found).err()).collect();
            return match wrong {
                Some(reasons) => Err(reasons.join("; ")),
                None => Ok(()),
            };
        }
        let is = |kind: &Value| kind.as_str().is_some_and(|kind| is_a(found, kind));
        let kinds = schema["type"].as_array();
        let has_kind = kinds.map_or(is(&schema["type"]), |kinds| kinds.iter().any(is));
        expect(has_kind, schema, found)?;
        let constant = schema.get("const").is_none_or(|only| only == found);
        let mut words = ["enum", "x-extensible-enum"].into_iter();
        let options = words.find_map(|word| schema[word].as_array());
        let listed = options.is_none_or(|all| all.contains(found));
        let is_allowed = constant && listed && is_in_bounds(schema, found);
        expect(is_allowed, schema, found)?;
        match found {
            Value::Object(fields) => self.check_fields(schema, fields),
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.check(&schema["items"], item))
            }
            _ => Ok(()),
        }
    }

    fn check_fields(&self, schema: &Value, fields: &Map<String, Value>) -> Result<(), String> {
        let none = Map::new();
        let known = schema["properties"].as_object().unwrap_or(&none);
        let is_open = schema["additionalProperties"] == json!(true);
        let names: BTreeSet<_> = fields
            .keys()
            .map(String::as_str)
            .filter(|name| !is_open || known.contains_key(*name))
            .collect();
        let required: BTreeSet<_> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // Only examples that an administrator sends, and events without their texts, have these fields.
        let is_optional =
            |name: &&str| ["example", "truncated"].contains(name) && !required.contains(name);
        let all: BTreeSet<_> = known
            .keys()
            .map(String::as_str)
            .filter(|name| !is_optional(name) || names.contains(name))
            .collect();
        let always = all.iter().filter(|name| !is_optional(name));
        let is_complete = match self.1 {
            Direction::Response if !is_open => names == all && always.eq(&required),
            _ => required.is_subset(&names) && names.is_subset(&all),
        };
        if !is_complete {
            return Err(format!("{names:?} are not all of {all:?}"));
        }
        let mut checked =
            known.iter().filter_map(|(name, schema)| Some((name, schema, fields.get(name)?)));
        checked.try_for_each(|(name, schema, value)| {
            let checked = self.check(schema, value);
            checked.map_err(|reason| format!("{name}: {reason}"))
        })
    }
}

/// Compares a text with `pattern` and `maxLength`, and a number with `minimum` and `maximum`.
fn is_in_bounds(schema: &Value, found: &Value) -> bool {
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    match found {
        Value::String(text) => {
            let length = text.chars().count() as f64;
            bound("maxLength").is_none_or(|max| length <= max)
                && schema["pattern"].as_str().is_none_or(|pattern| matches(pattern, text))
        }
        Value::Number(number) => number.as_f64().is_some_and(|number| {
            bound("minimum").is_none_or(|min| min <= number)
                && bound("maximum").is_none_or(|max| number <= max)
        }),
        _ => true,
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let pattern = PikeVM::new(pattern).unwrap();
    pattern.is_match(&mut pattern.create_cache(), text)
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
    if holds { Ok(()) } else { Err(format!("{found} is not as {schema} says")) }
}
