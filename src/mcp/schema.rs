//! Schemas of tools, from the OpenAPI document.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::api::openapi::strip_null;
use crate::model::field_update::NULL_REMOVES;

/// Path of the schemas in the OpenAPI document.
const COMPONENTS: &str = "#/components/schemas/";

/// Path of the schemas in the schema of a tool.
pub(super) const DEFINITIONS: &str = "#/$defs/";

/// Keywords that add no information for a model, or that the API itself checks.
const OMITTED: [&str; 6] =
    ["examples", "format", "pattern", "writeOnly", "x-required-unless", NULL_REMOVES];

/// The OpenAPI document of the service.
#[derive(Clone, Copy)]
pub(super) struct Document<'a>(pub(super) &'a Value);

impl Document<'_> {
    /// Returns the schema of the arguments of an operation: path variables, query parameters, body fields and `more`, in
    /// one object. Returns `None` if two of them have the same name.
    pub(super) fn input(self, operation: &Value, more: Option<(&str, Value)>) -> Option<Value> {
        let mut input = Input::default();
        let parameters = operation.get("parameters").and_then(Value::as_array);
        for parameter in parameters.into_iter().flatten() {
            if let Some((name, is_required, schema)) = argument(self.parameter(parameter)) {
                input.add(name, schema, is_required)?;
            }
        }
        let body = operation.pointer("/requestBody/content/application~1json/schema");
        if let Some(body) = body.map(|schema| self.resolve(schema)) {
            let required = body.get("required").and_then(Value::as_array);
            let fields = body.get("properties").and_then(Value::as_object);
            for (name, schema) in fields.into_iter().flatten() {
                let mut required = required.into_iter().flatten();
                input.add(name, schema.clone(), required.any(|one| one == name))?;
            }
        }
        if let Some((name, schema)) = more {
            input.add(name, schema, false)?;
        }
        let mut schema = json!({
            "type": "object",
            "properties": input.properties,
            "additionalProperties": false,
        });
        if !input.required.is_empty() {
            set(&mut schema, "required", input.required.into());
        }
        let mut schema = self.close(schema, &OMITTED);
        remove_nulls(&mut schema);
        Some(schema)
    }

    /// Returns the schema of the response of an operation or of an error; `None` for a response that is not an object.
    ///
    /// Some clients check the result of a refused call against it as well.
    pub(super) fn output(self, operation: &Value) -> Option<Value> {
        let declared = ["200", "201"].iter().find_map(|status| {
            let path = format!("/responses/{status}/content/application~1json/schema");
            operation.pointer(&path)
        })?;
        let mut schema = self.resolve(declared).clone();
        let is_object = schema.get("type") == Some(&"object".into());
        let keywords = schema.as_object_mut()?;
        if let Some(required) = keywords.remove("required") {
            let either = json!([{ "required": required }, { "required": ["error"] }]);
            keywords.insert("anyOf".into(), either);
        }
        let omitted = [&OMITTED[..], &["description", "minimum", "maximum"]].concat();
        is_object.then(|| self.close(schema, &omitted))
    }

    /// Returns the parameter that a reference names, or the parameter itself.
    fn parameter<'a>(&'a self, parameter: &'a Value) -> &'a Value {
        let reference = parameter.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).unwrap_or(parameter)
    }

    /// Returns the schema that a reference names, or the schema itself.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let component = reference.and_then(|reference| self.component(reference));
        component.map_or(schema, |(_, schema)| schema)
    }

    /// Returns the name and the schema of a reference to a component.
    fn component<'a>(&self, reference: &'a str) -> Option<(&'a str, &Value)> {
        let name = reference.strip_prefix(COMPONENTS)?;
        let schema = self.0.pointer("/components/schemas")?.get(name)?;
        Some((name, schema))
    }

    /// Returns the schema without the keywords in `omitted`, and with the schemas that it refers to in `$defs`.
    fn close(self, mut schema: Value, omitted: &[&str]) -> Value {
        let mut definitions = Map::new();
        self.localize(&mut schema, omitted, &mut definitions);
        let mut uses = HashMap::new();
        count_uses(&schema, &mut uses);
        definitions.values().for_each(|definition| count_uses(definition, &mut uses));
        inline(&mut schema, &uses, &mut definitions);
        for name in definitions.keys().cloned().collect::<Vec<_>>() {
            if let Some(mut definition) = definitions.remove(&name) {
                inline(&mut definition, &uses, &mut definitions);
                definitions.insert(name, definition);
            }
        }
        if !definitions.is_empty() {
            set(&mut schema, "$defs", definitions.into());
        }
        schema
    }

    /// Replaces references to components by references to `definitions`, and adds the components to them.
    fn localize(self, schema: &mut Value, omitted: &[&str], definitions: &mut Map<String, Value>) {
        match schema {
            Value::Array(schemas) => {
                for schema in schemas {
                    self.localize(schema, omitted, definitions);
                }
            }
            Value::Object(keywords) => {
                keywords.retain(|keyword, _| !omitted.contains(&keyword.as_str()));
                for (keyword, value) in keywords {
                    match (keyword.as_str(), value) {
                        ("$ref", Value::String(reference)) => {
                            self.localize_reference(reference, omitted, definitions);
                        }
                        // The names in it are not keywords.
                        ("properties", Value::Object(properties)) => {
                            for schema in properties.values_mut() {
                                self.localize(schema, omitted, definitions);
                            }
                        }
                        ("enum" | "const" | "required", _) => {}
                        (_, value) => self.localize(value, omitted, definitions),
                    }
                }
            }
            _ => {}
        }
    }

    fn localize_reference(
        self,
        reference: &mut String,
        omitted: &[&str],
        definitions: &mut Map<String, Value>,
    ) {
        let Some((name, schema)) = self.component(reference) else {
            return;
        };
        if !definitions.contains_key(name) {
            // A schema can refer to itself.
            definitions.insert(name.to_owned(), Value::Null);
            let mut schema = schema.clone();
            self.localize(&mut schema, omitted, definitions);
            definitions.insert(name.to_owned(), schema);
        }
        *reference = format!("{DEFINITIONS}{name}");
    }
}

/// Removes null from the schemas of fields, because some clients do not accept it in a schema.
fn remove_nulls(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(remove_nulls),
        Value::Object(keywords) => {
            let fields = keywords.get_mut("properties").and_then(Value::as_object_mut);
            for field in fields.into_iter().flat_map(Map::values_mut) {
                *field = strip_null(field.take());
            }
            keywords.values_mut().for_each(remove_nulls);
        }
        _ => {}
    }
}

/// Counts the references to each definition.
fn count_uses(schema: &Value, uses: &mut HashMap<String, usize>) {
    match schema {
        Value::Array(schemas) => schemas.iter().for_each(|schema| count_uses(schema, uses)),
        Value::Object(keywords) => {
            if let Some(name) = definition_name(keywords) {
                *uses.entry(name.to_owned()).or_default() += 1;
            }
            keywords.values().for_each(|value| count_uses(value, uses));
        }
        _ => {}
    }
}

/// Replaces the only reference to a definition by the definition.
fn inline(schema: &mut Value, uses: &HashMap<String, usize>, definitions: &mut Map<String, Value>) {
    match schema {
        Value::Array(schemas) => {
            for schema in schemas {
                inline(schema, uses, definitions);
            }
        }
        Value::Object(keywords) => {
            let name = definition_name(keywords).filter(|name| uses.get(*name) == Some(&1));
            let definition = name.map(str::to_owned).and_then(|name| definitions.remove(&name));
            if let Some(Value::Object(definition)) = definition {
                keywords.remove("$ref");
                for (keyword, value) in definition {
                    keywords.entry(keyword).or_insert(value);
                }
            }
            for value in keywords.values_mut() {
                inline(value, uses, definitions);
            }
        }
        _ => {}
    }
}

/// Returns the name of the definition that a schema refers to.
fn definition_name(keywords: &Map<String, Value>) -> Option<&str> {
    keywords.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)
}

#[derive(Default)]
struct Input {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Input {
    /// Adds an argument. Returns `None` if there is one with this name.
    fn add(&mut self, name: &str, schema: Value, is_required: bool) -> Option<()> {
        if is_required {
            self.required.push(name.to_owned());
        }
        let former = self.properties.insert(name.to_owned(), schema);
        former.is_none().then_some(())
    }
}

/// Returns name, presence and schema of a parameter; `None` for a header.
fn argument(parameter: &Value) -> Option<(&str, bool, Value)> {
    if parameter.get("in") == Some(&"header".into()) {
        return None;
    }
    let name = parameter.get("name")?.as_str()?;
    let mut schema = parameter.get("schema")?.clone();
    if let Some(description @ Value::String(_)) = parameter.get("description") {
        set(&mut schema, "description", description.clone());
    }
    let is_required = parameter.get("required") == Some(&true.into());
    Some((name, is_required, schema))
}

fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.insert(keyword.to_owned(), value);
    }
}
