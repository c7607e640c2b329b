//! Helpers for schemas and texts ([protocol](crate::guide::protocol), section 6).

use schemars::Schema;
use serde_json::Value;

/// Implements a schema that is inlined at each use of the type.
macro_rules! inline_schema {
    ($type:ident, $schema:expr) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

pub(super) use inline_schema;

/// Keeps the first paragraph of a description, which is that of the wire format. The others are for Rust.
pub(crate) fn first_paragraph(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let end = description.find("\n\n");
        description.truncate(end.unwrap_or(description.len()));
    }
}

/// Removes the examples of a parameter: a value of another board would select nothing, or be refused.
pub(crate) fn remove_examples(schema: &mut Schema) {
    schema.remove("examples");
}

/// Characters that texts must not contain, because some databases cannot store them: U+0000 and the byte-order mark.
pub(crate) const FORBIDDEN_CHARS: [char; 2] = ['\0', '\u{feff}'];
