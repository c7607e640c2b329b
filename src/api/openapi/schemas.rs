//! JSON Schemas of what goes in and what comes out.

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::normalize::{NormalizeSchemas, RestrictText};
use crate::api::response::ErrorBody;

/// Both directions: a field that may be left out of a request is always there in an answer.
pub(super) struct Schemas {
    pub(super) inputs: SchemaGenerator,
    pub(super) outputs: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let mut outputs = settings(Contract::Serialize).into_generator();
        outputs.subschema_for::<ErrorBody<'_>>();
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

/// A parameter is there or not: it is never null, and no list is its default.
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
        let some = choices
            .into_iter()
            .find(|choice| choice.get("type") != Some(&"null".into()));
        let some = some
            .and_then(|some| some.as_object().cloned())
            .unwrap_or_default();
        fields.extend(some);
    }
    schema
}
