//! JSON Schemas of requests and responses.

use std::collections::HashMap;

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::normalize::{EXTENSIBLE_ENUM, NormalizeSchemas};
use crate::api::BoardDescription;
use crate::model::ErrorBody;

/// Path of all schemas in the document.
const SCHEMAS: &str = "/components/schemas";

/// Path of the schemas of requests, until [`Schemas::merge_into`] moves them to [`SCHEMAS`].
const INPUTS: &str = "/components/inputs";

/// Texts of requests with the maximum length of a title: schema and path in it.
#[rustfmt::skip]
const TITLES: [(&str, &str); 8] = [
    ("ThreadInput", "/properties/title"),
    ("PostUpdate", "/properties/title"),
    ("PostUpdate", "/properties/reason"),
    ("MessageInput", "/properties/subject"),
    ("PollInput", "/properties/question"),
    ("PollInput", "/properties/options/items"),
    ("PollUpdate", "/properties/question"),
    ("PollOptionUpdate", "/properties/text"),
];

/// Texts of requests with the maximum length of a body.
#[rustfmt::skip]
const BODIES: [(&str, &str); 5] = [
    ("ThreadInput", "/properties/body"),
    ("PostInput", "/properties/body"),
    ("PostUpdate", "/properties/body"),
    ("MessageInput", "/properties/body"),
    ("RatingInput", "/properties/comment"),
];

/// Schema generators for requests and for responses: a field that is optional in a request is required in a response.
pub(super) struct Schemas {
    pub(super) inputs: SchemaGenerator,
    pub(super) outputs: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let mut outputs = settings(Contract::Serialize, SCHEMAS).into_generator();
        outputs.subschema_for::<ErrorBody>();
        let inputs = settings(Contract::Deserialize, INPUTS).into_generator();
        Self { inputs, outputs }
    }

    /// Adds the board's limits of texts to the schemas of requests.
    pub(super) fn limit_texts(&mut self, board: &BoardDescription) {
        let inputs = self.inputs.definitions_mut();
        let limits = [(&TITLES[..], board.title_max), (&BODIES, board.body_max)];
        for (texts, max) in limits {
            for (name, path) in max.iter().flat_map(|_| texts) {
                let text = inputs
                    .get_mut(*name)
                    .and_then(|schema| schema.pointer_mut(path)?.as_object_mut());
                if let Some(text) = text {
                    text.insert("maxLength".into(), max.into());
                }
            }
        }
    }

    /// Adds the schemas to the document. A field of a response with an open enumeration is a text, because a client generator
    /// would make a type of the name that has no values. A schema of requests gets another name if responses have a different schema
    /// with its name.
    pub(super) fn merge_into(mut self, document: &mut Value) {
        let inputs = self.inputs.take_definitions(true);
        let (open, mut schemas): (Map<_, _>, Map<_, _>) = self
            .outputs
            .take_definitions(true)
            .into_iter()
            .partition(|(_, schema)| schema.get(EXTENSIBLE_ENUM).is_some());
        schemas.values_mut().for_each(|schema| inline(schema, &open));
        inline(document, &open);
        let mut names = HashMap::new();
        // A new name changes the schemas that refer to it.
        while let Some(name) = inputs.iter().find_map(|(name, schema)| {
            let is_other = |output: &Value| *output != renamed(schema, &names);
            let is_taken = !names.contains_key(name) && schemas.get(name).is_some_and(is_other);
            is_taken.then(|| name.clone())
        }) {
            let mut new = name.clone();
            while schemas.contains_key(&new)
                || inputs.contains_key(&new)
                || names.values().any(|taken| *taken == new)
            {
                new += "Input";
            }
            names.insert(name, new);
        }
        for (name, mut schema) in inputs {
            rename_references(&mut schema, &names);
            schemas.insert(names.get(&name).cloned().unwrap_or(name), schema);
        }
        rename_references(document, &names);
        let components = document.get_mut("components").and_then(Value::as_object_mut);
        if let Some(components) = components {
            components.insert("schemas".into(), schemas.into());
        }
    }
}

/// Replaces the references to these schemas of responses by the schemas.
fn inline(part: &mut Value, schemas: &Map<String, Value>) {
    let reference = part.get("$ref").and_then(Value::as_str);
    let name =
        reference.and_then(|path| path.strip_prefix('#')?.strip_prefix(SCHEMAS)?.strip_prefix('/'));
    if let Some(schema) = name.and_then(|name| schemas.get(name)) {
        *part = schema.clone();
        return;
    }
    match part {
        Value::Object(fields) => fields.values_mut().for_each(|field| inline(field, schemas)),
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, schemas)),
        _ => {}
    }
}

/// Replaces references to [`INPUTS`] in a part of the document with references to [`SCHEMAS`]. `names` maps old names to new
/// names; a schema that is not in it keeps its name.
fn rename_references(part: &mut Value, names: &HashMap<String, String>) {
    match part {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        rename_reference(reference, names);
                    }
                    _ => rename_references(value, names),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, names)),
        _ => {}
    }
}

fn rename_reference(reference: &mut String, names: &HashMap<String, String>) {
    let input =
        reference.strip_prefix('#').and_then(|path| path.strip_prefix(INPUTS)?.strip_prefix('/'));
    if let Some(name) = input {
        let name = names.get(name).map_or(name, String::as_str);
        *reference = format!("#{SCHEMAS}/{name}");
    }
}

fn renamed(schema: &Value, names: &HashMap<String, String>) -> Value {
    let mut schema = schema.clone();
    rename_references(&mut schema, names);
    schema
}

fn settings(contract: Contract, definitions_path: &'static str) -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = definitions_path.into();
        settings.meta_schema = None;
        settings.contract = contract.clone();
    });
    settings.with_transform(NormalizeSchemas { contract })
}

/// Removes `null` and list defaults from the schema of a query parameter: a parameter is absent, but never null.
pub(crate) fn strip_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else {
        return schema;
    };
    fields.remove("writeOnly");
    if matches!(fields.get("default"), Some(Value::Null | Value::Array(_))) {
        fields.remove("default");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(mut choices)) = fields.remove("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&"null".into()));
        if let [Value::Object(only)] = choices.as_slice() {
            fields.extend(only.clone());
        } else {
            fields.insert("anyOf".into(), choices.into());
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::strip_null;

    #[test]
    fn a_union_keeps_its_choices_besides_null() {
        let [number, text, none] =
            ["integer", "string", "null"].map(|name| json!({ "type": name }));
        for (choices, expected) in [
            (json!([number, none]), json!({ "type": "integer" })),
            (json!([number, text]), json!({ "anyOf": [number, text] })),
            (json!([number, text, none]), json!({ "anyOf": [number, text] })),
        ] {
            assert_eq!(strip_null(json!({ "anyOf": choices })), expected);
        }
    }
}
