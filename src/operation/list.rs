//! Parameters of lists.

use std::any::TypeId;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::{Deserialize as _, DeserializeOwned};
use serde_json::{Value, json};

use super::error::ApiError;
use super::extra::ExtraTypes;
use super::extract::value::InputValue;
use super::input::{Decode, DecodeContext, InputSchema, NoParams, deserialize};
use super::pagination::{self, AFTER, CursorScope};
use crate::model::{List, PageLimit};

/// Query parameter that holds the number of items.
const LIMIT: &str = "limit";

/// The filters are a struct with `#[serde(deny_unknown_fields)]`; `()` for a list without filters.
impl<F: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static> Decode for List<F> {
    const IS_LIST: bool = true;

    fn decode(
        mut query: InputValue<'_>,
        context: &DecodeContext<'_>,
    ) -> Result<(Self, Option<CursorScope>), ApiError> {
        let after = query.take_text(AFTER)?;
        let limit = query.take_text(LIMIT)?.map(InputValue::Parameter);
        let limit = limit.map(PageLimit::deserialize).transpose();
        if has_no_filters::<F>() {
            let NoParams {} = deserialize(query)?;
            query = InputValue::Null;
        }
        let mut list = Self::new(deserialize(query)?);
        list.limit = limit
            .map_err(|error| error.in_field(LIMIT))?
            .unwrap_or_default();
        let scope = context.cursor_scope(&list.filter)?;
        list.after = after.map(|cursor| scope.decode(&cursor)).transpose()?;
        Ok((list, Some(scope)))
    }

    fn describe(generator: &mut SchemaGenerator, _: &ExtraTypes) -> InputSchema {
        let mut schema = match has_no_filters::<F>() {
            true => NoParams::json_schema(generator),
            false => F::json_schema(generator),
        };
        let mut limit = PageLimit::json_schema(generator);
        limit.insert(
            "description".into(),
            "Number of items per page, 1 to 100. Default: 20.".into(),
        );
        let mut has_reserved_filter = false;
        let properties = schema.ensure_object().entry("properties");
        if let Some(properties) = properties.or_insert_with(|| json!({})).as_object_mut() {
            has_reserved_filter = [LIMIT, AFTER]
                .iter()
                .any(|name| properties.contains_key(*name));
            let filters = properties.values_mut().filter_map(Value::as_object_mut);
            // Fields that are not part of the cursor have this keyword.
            filters.for_each(|filter| drop(filter.remove("writeOnly")));
            properties.insert(LIMIT.into(), limit.into());
        }
        pagination::add_parameter(&mut schema, generator);
        InputSchema {
            has_reserved_filter,
            ..InputSchema::of_query(schema)
        }
    }
}

fn has_no_filters<F: 'static>() -> bool {
    TypeId::of::<F>() == TypeId::of::<()>()
}
