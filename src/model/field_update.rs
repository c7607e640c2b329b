//! Updates of fields that can be null.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Keyword of the schema of a field that null changes. For other fields, null is equivalent to omission.
pub(crate) const NULL_REMOVES: &str = "x-null-removes";

/// Update of a field that can be null, which distinguishes an omitted field from null.
///
/// ```
/// use forum_api::model::{FieldUpdate, Timestamp};
///
/// let current = Some(Timestamp::from_millis(0));
/// assert_eq!(FieldUpdate::Keep.apply(current), current);
/// assert_eq!(FieldUpdate::Clear.apply(current), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldUpdate<T> {
    /// The field is omitted: its value does not change.
    #[default]
    Keep,
    /// The field is null: its value is removed.
    Clear,
    /// The new value.
    Set(T),
}

impl<T> FieldUpdate<T> {
    /// Returns `true` if the value does not change.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Returns the value after the update of `current`.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// `None` becomes [`FieldUpdate::Clear`].
impl<T> From<Option<T>> for FieldUpdate<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }
}

/// Serialises [`Keep`](FieldUpdate::Keep) as null, unless the field has `skip_serializing_if = "FieldUpdate::is_keep"`.
impl<T: Serialize> Serialize for FieldUpdate<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for FieldUpdate<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Update", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Option::<T>::json_schema(generator);
        schema.insert(NULL_REMOVES.into(), true.into());
        schema
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FieldUpdate<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}
