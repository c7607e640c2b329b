//! Says of each text that a client sends which characters are refused in it.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

use crate::model::any_text;

/// Texts that are narrowed by nothing else take whatever can be typed.
#[derive(Clone)]
pub(super) struct Typed;

impl Transform for Typed {
    fn transform(&mut self, schema: &mut Schema) {
        let narrowed = ["enum", "const", "format", "pattern"];
        let is_free = !narrowed.iter().any(|word| schema.get(*word).is_some());
        if is_free && is_text(schema) {
            schema.insert("pattern".into(), any_text().into());
        }
        transform_subschemas(self, schema);
    }
}

fn is_text(schema: &Schema) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.contains(&"string".into()),
        Some(only) => only == "string",
        None => false,
    }
}
