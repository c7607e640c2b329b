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
    pub(super) parameters: Map<String, Value>,
    pub(super) responses: Map<String, Value>,
}

impl<'a> Components<'a> {
    pub(super) fn new(
        surface: Surface,
        scopes: &'a Scopes,
        extra_types: &'a ExtraTypes,
        error_messages: &'a ErrorMessages,
        parameters: Map<String, Value>,
    ) -> Self {
        Self {
            surface,
            scopes,
            extra_types,
            error_messages,
            schemas: Schemas::new(),
            parameters,
            responses: Map::new(),
        }
    }

    /// Adds the response unless there is one with this name, and returns a reference to it.
    pub(super) fn share_response(&mut self, name: String, build: impl FnOnce() -> Value) -> Value {
        let reference = json!({ "$ref": format!("#/components/responses/{name}") });
        self.responses.entry(name).or_insert_with(build);
        reference
    }

    /// Adds the parameter unless there is one with this name, and returns a reference to it. Returns the parameter itself if
    /// the parameter with this name is a different one.
    pub(super) fn share_parameter(&mut self, name: String, parameter: Value) -> Value {
        let reference = json!({ "$ref": format!("#/components/parameters/{name}") });
        let shared = self.parameters.entry(name).or_insert_with(|| parameter.clone());
        if *shared == parameter { reference } else { parameter }
    }
}
