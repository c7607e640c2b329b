//! Deserializers that distinguish missing and null fields, and the characters that texts may contain
//! (`docs/protocol.md`, section 5.5).

use serde::{Deserialize, Deserializer};

/// The schema of a type, which stands where the type is used.
macro_rules! inline_schema {
    ($type:ty, $name:expr, $schema:expr) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

pub(super) use inline_schema;

/// U+0000 and the byte-order mark: nobody types them, and not every store can keep them.
pub(crate) const FORBIDDEN_CHARS: [char; 2] = ['\0', '\u{feff}'];

/// Any other character, in a schema's pattern.
pub(crate) const ALLOWED_TEXT_PATTERN: &str = r"[^\u0000\uFEFF]";

/// The pattern of a text that takes whatever can be typed.
pub(crate) fn text_pattern() -> String {
    format!("^{ALLOWED_TEXT_PATTERN}*$")
}

/// For a field that may be left out, but not be null.
pub(super) fn non_null<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// For a field in which null says something else than being left out: `Some(None)`.
pub(super) fn double_option<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
