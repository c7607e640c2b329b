//! The OpenAPI document.

use super::Settings;

/// doc
pub fn document(_: &Settings) -> serde_json::Value {
    serde_json::Value::Null
}
