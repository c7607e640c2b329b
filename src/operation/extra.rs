//! `extra` in bodies: fields that a host adds to the bodies of the specification ([protocol](crate::guide::protocol),
//! section 11.3).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::extract::error::InputResult;
use super::extract::value::InputValue;
use super::null_fields;
use crate::model::BodyExtra;

/// Field of a body that contains the fields of the host.
pub(crate) const EXTRA: &str = "extra";

/// A body to which a host can add fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtraOf {
    /// [`NewThread`](crate::model::NewThread), the body of `POST /forums/{forumId}/threads`.
    NewThread,
    /// [`NewPost`](crate::model::NewPost), the body of `POST /threads/{threadId}/posts`.
    NewPost,
    /// [`PostUpdate`](crate::model::PostUpdate), the body of `PATCH /threads/{threadId}/posts/{postId}`.
    PostUpdate,
    /// [`NewMessage`](crate::model::NewMessage), the body of `POST /messages`.
    NewMessage,
}

/// Type of the fields that a host adds to a body.
#[derive(Clone, Copy)]
struct ExtraType {
    of: ExtraOf,
    decode: fn(InputValue<'_>) -> InputResult<BodyExtra>,
    schema: fn(&mut SchemaGenerator) -> Schema,
    rejects_unknown_fields: fn(&mut SchemaGenerator) -> bool,
}

/// Types of the fields that a host adds.
#[derive(Clone, Default)]
pub(crate) struct ExtraTypes(Vec<ExtraType>);

impl ExtraTypes {
    pub(crate) fn add<T: DeserializeOwned + JsonSchema + Send + Sync + 'static>(
        &mut self,
        of: ExtraOf,
    ) {
        self.0.push(ExtraType {
            of,
            decode: |mut value| {
                null_fields::remove::<T>(&mut value)?;
                T::deserialize(value).map(BodyExtra::new)
            },
            schema: |generator| generator.subschema_for::<T>(),
            rejects_unknown_fields: |generator| rejects_unknown_fields(&T::json_schema(generator)),
        });
    }

    /// Returns `true` if each body has at most one type, and each type rejects unknown fields.
    pub(crate) fn is_valid(&self) -> bool {
        let mut generator = SchemaGenerator::default();
        let types = self.0.iter().enumerate();
        types.into_iter().all(|(index, one)| {
            let is_first = !self.0.iter().take(index).any(|earlier| earlier.of == one.of);
            is_first && (one.rejects_unknown_fields)(&mut generator)
        })
    }

    fn get(&self, of: Option<ExtraOf>) -> Option<&ExtraType> {
        self.0.iter().find(|one| Some(one.of) == of)
    }

    /// Removes the fields of the host from a body, and decodes them. Without a type, `extra` stays in the body, where
    /// it is an unknown field.
    pub(crate) fn take(
        &self,
        of: Option<ExtraOf>,
        body: &mut InputValue<'_>,
    ) -> InputResult<Option<BodyExtra>> {
        let Some(extra) = self.get(of) else {
            return Ok(None);
        };
        match body.take(EXTRA)? {
            None | Some(InputValue::Null) => Ok(None),
            Some(value) => (extra.decode)(value).map(Some).map_err(|error| error.in_field(EXTRA)),
        }
    }

    /// Returns the schema of the fields that the host adds to a body; `None` without a type.
    pub(crate) fn schema(
        &self,
        of: Option<ExtraOf>,
        generator: &mut SchemaGenerator,
    ) -> Option<Schema> {
        self.get(of).map(|extra| (extra.schema)(generator))
    }
}

/// Returns `true` if the schema of an object permits only its own fields.
pub(crate) fn rejects_unknown_fields(schema: &Schema) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}
