//! JSON Schemas of requests and responses.

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::normalize::{NormalizeSchemas, RestrictText};
use crate::model::ErrorBody;

/// Schema generators for requests and for responses: a field that is optional in a request is required in a response.
pub(super) struct Schemas {
    pub(super) inputs: SchemaGenerator,
    pub(super) outputs: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let mut outputs = settings(Contract::Serialize).into_generator();
        outputs.subschema_for::<ErrorBody>();
        Self {
            inputs: settings(Contract::Deserialize)
                .with_transform(RestrictText)
                .into_generator(),
            outputs,
        }
    }

    pub(super) fn into_definitions(mut self) -> Map<String, Value> {
        let mut definitions = self.outputs.take_definitions(true);
        definitions.extend(self.inputs.take_definitions(true));
        definitions
    }
}

fn settings(contract: Contract) -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = contract;
    });
    settings.with_transform(NormalizeSchemas)
}

/// Removes `null` and list defaults from the schema of a query parameter: a parameter is absent, but never null.
pub(super) fn strip_null(mut schema: Value) -> Value {
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
    if let Some(Value::Array(choices)) = fields.remove("anyOf") {
        let non_null = choices
            .iter()
            .find(|choice| choice.get("type") != Some(&"null".into()));
        let non_null = non_null.and_then(Value::as_object).cloned();
        fields.extend(non_null.unwrap_or_default());
    }
    schema
}
