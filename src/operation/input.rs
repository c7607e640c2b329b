//! Inputs of operations: query parameters, lists and bodies.

use std::any::TypeId;
use std::fmt;
use std::time::Duration;

use http::request::Parts;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::extra::{EXTRA, ExtraOf, ExtraTypes, rejects_unknown_fields};
use super::extract::error::{InputError, InputErrorKind, InputResult};
use super::extract::value::InputValue;
use super::field_names::field_names;
use super::null_fields;
use super::pagination::{self, AFTER};
use crate::http_util::percent_decode;
use crate::model::{BodyExtra, CursorScope, List, PageForm, PageLimit, UserId};
use crate::scope::Scope;

/// A field of a body, and the scope that `true` in it requires.
pub(crate) type ScopedField = (&'static str, Scope);

/// Query parameter that holds the number of items.
pub(crate) const LIMIT: &str = "limit";

/// Input of an operation besides its path: `()`, [`Query`], [`Json`] or [`List`](crate::model::List). Only an operation
/// with [`Json`] reads the body of a request; the others ignore it. A host cannot implement this trait.
#[expect(private_bounds, reason = "a host cannot implement the trait")]
pub trait Input: Decode {}

impl<T: Decode> Input for T {}

/// The parameters of the query.
///
/// `T` is a struct with `#[serde(deny_unknown_fields)]`. Its fields are texts, numbers, booleans, unit enums and ids.
#[derive(Clone, Debug, Default)]
pub struct Query<T>(pub T);

/// The JSON body, whose type implements [`Body`].
#[derive(Clone, Debug, Default)]
pub struct Json<T>(pub T);

/// Body of a request.
///
/// ```
/// use forum_api::operation::{Body, FieldError};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// #[serde(rename_all = "camelCase", deny_unknown_fields)]
/// struct NewPostVote {
///     /// 1 or -1.
///     value: i8,
/// }
///
/// impl Body for NewPostVote {
///     fn example() -> Self {
///         Self { value: 1 }
///     }
///
///     fn check(&self) -> Result<(), FieldError> {
///         match self.value {
///             1 | -1 => Ok(()),
///             _ => Err(FieldError::new("value", "1 or -1")),
///         }
///     }
/// }
/// ```
pub trait Body: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    /// Returns an example for the OpenAPI document.
    fn example() -> Self;

    /// Checks rules that the type cannot express.
    ///
    /// # Errors
    /// [`FieldError`]: the response is a 400 that names the field and the expected value.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }

    /// Returns the field that requires an additional scope; `None`, the default, if no field does.
    fn field_scope() -> Option<FieldScope<Self>> {
        None
    }

    /// The body of the specification to which a host can add fields; `None` for other bodies.
    #[doc(hidden)]
    const EXTRA_OF: Option<ExtraOf> = None;

    /// Sets the fields that the host added.
    #[doc(hidden)]
    fn set_extra(&mut self, _: BodyExtra) {}
}

/// A field of a body that requires a scope in addition to the scope of the operation.
///
/// Without the scope, the response is a 403 `missing_scope`.
pub struct FieldScope<T> {
    pub(crate) field: &'static str,
    pub(crate) scope: Scope,
    pub(crate) is_set: fn(&T) -> bool,
}

impl<T> FieldScope<T> {
    /// Creates the rule. `field` is the name in the JSON body, for the document. `is_set` returns `true` if the body
    /// requires the scope.
    pub const fn new(field: &'static str, scope: Scope, is_set: fn(&T) -> bool) -> Self {
        Self { field, scope, is_set }
    }
}

impl<T> fmt::Debug for FieldScope<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldScope")
            .field("field", &self.field)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Error of a field or a parameter. The response is a 400 `bad_request` that names the field and the expected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: expected {expected}")]
pub struct FieldError {
    field: String,
    expected: &'static str,
}

impl FieldError {
    /// Creates the error of a value, with the expected value as an English phrase such as `1 to 100`.
    /// [`ErrorMessages`](crate::ErrorMessages) can translate the phrase.
    pub fn new(field: &str, expected: &'static str) -> Self {
        Self { field: field.into(), expected }
    }
}

impl From<FieldError> for InputError {
    fn from(error: FieldError) -> Self {
        Self::expected(error.field, error.expected)
    }
}

/// Location of the parameters in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Query,
    Body,
}

/// Schema, example and additional scope of an input.
pub(crate) struct InputSchema {
    pub(crate) schema: Schema,
    /// Names of the parameters in the query, in the order of the document.
    pub(crate) order: Vec<&'static str>,
    /// Example of the body; `None` for parameters in the query.
    pub(crate) example: Option<Value>,
    /// A field of the body, and the additional scope that it requires.
    pub(crate) field_scope: Option<ScopedField>,
    pub(crate) rejects_unknown_fields: bool,
    /// `true` if a filter of a list has the name of a parameter of every list.
    pub(crate) has_reserved_filter: bool,
}

/// The request whose input is decoded.
pub(crate) struct DecodeContext<'a> {
    pub(crate) head: &'a Parts,
    /// The caller if the operation needs a token: a list is then personal.
    pub(crate) owner: Option<&'a UserId>,
    pub(crate) page_form: PageForm,
    pub(crate) extra_types: &'a ExtraTypes,
    pub(crate) since_overlap: Duration,
    pub(crate) thread_since_overlap: Duration,
}

impl DecodeContext<'_> {
    /// Returns the scope of the cursors of the requested list.
    pub(crate) fn cursor_scope(&self, filters: &impl Serialize) -> ApiResult<CursorScope> {
        // A client can encode the same path in several ways.
        let encoded = self.head.uri.path();
        let path = percent_decode(encoded).unwrap_or_else(|| encoded.into());
        CursorScope::new(&path, self.owner, filters).map_err(ApiError::internal)
    }
}

/// Decoding of an input.
pub(crate) trait Decode: Send + Sync + Sized + 'static {
    const SOURCE: Source = Source::Query;

    /// `true` if the input has the cursor of a list.
    const IS_LIST: bool = false;

    /// Decodes and checks the input.
    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self>;

    /// Returns the additional scope that this input requires.
    fn required_scope(&self) -> Option<Scope> {
        None
    }

    /// Returns the scope of the cursors of a list; `None` for another input.
    fn cursor_scope(&self) -> Option<CursorScope> {
        None
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema;
}

impl InputSchema {
    pub(crate) fn of_query(schema: Schema, order: &[&'static str]) -> Self {
        let rejects_unknown_fields = rejects_unknown_fields(&schema);
        Self {
            schema,
            order: order.to_vec(),
            example: None,
            field_scope: None,
            rejects_unknown_fields,
            has_reserved_filter: false,
        }
    }

    /// Moves the parameters of every list before the filters.
    pub(crate) fn with_paging_first(mut self) -> Self {
        self.order.sort_by_key(|name| ![LIMIT, AFTER].contains(name));
        self
    }
}

/// Deserializes an input. The field of a type error without a field name is `body`.
pub(crate) fn deserialize<T: DeserializeOwned>(value: InputValue<'_>) -> InputResult<T> {
    T::deserialize(value).map_err(|mut error| {
        use InputErrorKind::{Missing, Repeated, Unknown};
        let is_type_error = !matches!(error.kind, Missing | Repeated | Unknown);
        if error.name.is_empty() && is_type_error {
            error.name = "body".into();
        }
        error
    })
}

/// Parameters of a request that must not have query parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

/// Rejects all query parameters.
pub(crate) fn reject_query(head: &Parts) -> InputResult<()> {
    let NoParams {} = deserialize(InputValue::from_query(head.uri.query())?)?;
    Ok(())
}

impl Decode for () {
    fn decode(value: InputValue<'_>, _: &DecodeContext<'_>) -> ApiResult<Self> {
        let NoParams {} = deserialize(value)?;
        Ok(())
    }

    fn describe(generator: &mut SchemaGenerator, _: &ExtraTypes) -> InputSchema {
        InputSchema::of_query(NoParams::json_schema(generator), &[])
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Decode for Query<T> {
    fn decode(value: InputValue<'_>, _: &DecodeContext<'_>) -> ApiResult<Self> {
        Ok(Self(deserialize(value)?))
    }

    fn describe(generator: &mut SchemaGenerator, _: &ExtraTypes) -> InputSchema {
        InputSchema::of_query(T::json_schema(generator), field_names::<T>())
    }
}

impl<T: Body> Decode for Json<T> {
    const SOURCE: Source = Source::Body;

    fn decode(mut value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        let extra = context.extra_types.take(T::EXTRA_OF, &mut value)?;
        null_fields::remove::<T>(&mut value)?;
        let mut body: T = deserialize(value)?;
        if let Some(extra) = extra {
            body.set_extra(extra);
        }
        body.check().map_err(InputError::from)?;
        Ok(Self(body))
    }

    fn required_scope(&self) -> Option<Scope> {
        let set = T::field_scope().filter(|field| (field.is_set)(&self.0));
        set.map(|field| field.scope)
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        let schema = generator.subschema_for::<T>();
        if let Some(extra) = extra_types.schema(T::EXTRA_OF, generator) {
            // The name of the schema differs from that of the type if another type has the name.
            let reference = schema.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|reference| reference.rsplit('/').next());
            let definition = name.and_then(|name| generator.definitions_mut().get_mut(name));
            let properties =
                definition.and_then(|body| body.get_mut("properties")?.as_object_mut());
            if let Some(properties) = properties {
                properties.insert(EXTRA.into(), extra.into());
            }
        }
        InputSchema {
            schema,
            order: Vec::new(),
            example: Some(json!(T::example())),
            field_scope: T::field_scope().map(|field| (field.field, field.scope)),
            rejects_unknown_fields: rejects_unknown_fields(&T::json_schema(generator)),
            has_reserved_filter: false,
        }
    }
}

/// The filters are a struct with `#[serde(deny_unknown_fields)]`; `()` for a list without filters.
impl<F: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static> Decode for List<F> {
    const IS_LIST: bool = true;

    fn decode(mut query: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        let after = query.take_text(AFTER)?;
        let limit = query
            .take_text(LIMIT)?
            .map(InputValue::Parameter)
            .map(PageLimit::deserialize)
            .transpose();
        if has_no_filters::<F>() {
            let NoParams {} = deserialize(query)?;
            query = InputValue::Null;
        }
        let mut list = Self::in_form(context.page_form, deserialize(query)?);
        list.limit = limit.map_err(|error| error.in_field(LIMIT))?.unwrap_or_default();
        list.cursor_scope = context.cursor_scope(&list.filter)?;
        list.after = after.map(|cursor| list.cursor_scope.decode(&cursor)).transpose()?;
        Ok(list)
    }

    fn cursor_scope(&self) -> Option<CursorScope> {
        Some(self.cursor_scope)
    }

    fn describe(generator: &mut SchemaGenerator, _: &ExtraTypes) -> InputSchema {
        let mut schema = if has_no_filters::<F>() {
            NoParams::json_schema(generator)
        } else {
            F::json_schema(generator)
        };
        let mut limit = PageLimit::json_schema(generator);
        let description = "Number of items per page, 1 to 100. Default: `20`.";
        limit.insert("description".into(), description.into());
        let mut has_reserved_filter = false;
        let properties = schema.ensure_object().entry("properties");
        if let Some(properties) = properties.or_insert_with(|| json!({})).as_object_mut() {
            has_reserved_filter = [LIMIT, AFTER].iter().any(|name| properties.contains_key(*name));
            let filters = properties.values_mut().filter_map(Value::as_object_mut);
            // Fields that are not part of the cursor have this keyword.
            filters.for_each(|filter| drop(filter.remove("writeOnly")));
            properties.insert(LIMIT.into(), limit.into());
        }
        pagination::add_parameter(&mut schema, generator);
        let order = [field_names::<F>(), &[LIMIT, AFTER]].concat();
        InputSchema { has_reserved_filter, ..InputSchema::of_query(schema, &order) }
    }
}

fn has_no_filters<F: 'static>() -> bool {
    TypeId::of::<F>() == TypeId::of::<()>()
}
