//! Helpers for schemas and for fields that can be omitted, but not null ([protocol](crate::guide::protocol), sections
//! 5.5 and 6).

use serde::{Deserialize, Deserializer};

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

/// Characters that texts must not contain, because some databases cannot store them: U+0000 and the byte-order mark.
pub(crate) const FORBIDDEN_CHARS: [char; 2] = ['\0', '\u{feff}'];

/// Pattern of one allowed character.
pub(crate) const ALLOWED_TEXT_PATTERN: &str = r"[^\u0000\uFEFF]";

/// Returns the pattern of a text of allowed characters.
pub(crate) fn text_pattern() -> String {
    format!("^{ALLOWED_TEXT_PATTERN}*$")
}

/// Deserializes a field that can be omitted, but not null.
pub(super) fn non_null<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
