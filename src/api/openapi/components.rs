//! Components of the document that its operations share.

use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use crate::operation::{ErrorMessages, ExtraTypes};
use crate::scope::{Scopes, Surface};

/// Components of a surface's document, and the messages of its errors.
pub(super) struct Components<'a> {
    pub(super) surface: Surface,
    pub(super) scopes: &'a Scopes,
    pub(super) extra_types: &'a ExtraTypes,
    pub(super) error_messages: &'a ErrorMessages,
    pub(super) schemas: Schemas,
    pub(super) responses: Map<String, Value>,
}

impl<'a> Components<'a> {
    pub(super) fn new(
        surface: Surface,
        scopes: &'a Scopes,
        extra_types: &'a ExtraTypes,
        error_messages: &'a ErrorMessages,
    ) -> Self {
        Self {
            surface,
            scopes,
            extra_types,
            error_messages,
            schemas: Schemas::new(),
            responses: Map::new(),
        }
    }

    /// Adds the response unless there is one with this name, and returns a reference to it.
    pub(super) fn share_response(&mut self, name: String, build: impl FnOnce() -> Value) -> Value {
        let reference = json!({ "$ref": format!("#/components/responses/{name}") });
        self.responses.entry(name).or_insert_with(build);
        reference
    }
}
