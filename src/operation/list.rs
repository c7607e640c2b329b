//! Parameters of lists.

use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::extract::value::InputValue;
use super::input::{Decode, FieldError, InputSchema, deserialize};
use super::pagination::{self, AFTER, CursorScope};
use crate::model::{PageKey, UserId};

/// Query parameters of a list: a limit, a cursor and the filters.
pub(crate) trait ListParams: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Sets the page key that the cursor contains.
    fn set_after(&mut self, key: PageKey);

    /// Writes the filters. A cursor is valid only for the same filters.
    fn write_filters(&self, writer: &mut dyn std::io::Write) -> serde_json::Result<()>;

    /// Checks rules that the type cannot express.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

impl<L: ListParams> Decode for L {
    fn decode(
        mut value: InputValue<'_>,
        head: &Parts,
        owner: Option<&UserId>,
    ) -> Result<(Self, Option<CursorScope>), ApiError> {
        let cursor = value.take_text(AFTER)?;
        let mut list: L = deserialize(value)?;
        let scope = CursorScope::new(head.uri.path(), &list, owner).map_err(ApiError::internal)?;
        if let Some(cursor) = cursor {
            list.set_after(scope.decode(&cursor)?);
        }
        list.check().map_err(|FieldError(error)| error)?;
        Ok((list, Some(scope)))
    }

    fn describe(generator: &mut SchemaGenerator) -> InputSchema {
        let mut schema = L::json_schema(generator);
        pagination::add_parameter(&mut schema, generator);
        InputSchema::of_query(schema)
    }
}
