//! Names of the fields of a struct in the order of their declaration, which a JSON Schema does not keep.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the names in JSON of the fields of a struct that derives `Deserialize`. Returns no names for another type, and
/// for a struct with a flattened field.
pub(super) fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The deserializer returns an error in place of a value.
    drop(T::deserialize(FieldNames(&mut names)));
    names
}

/// Deserializer that stores the names of the fields of a struct, and then fails.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("there is no value"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::field_names;
    use crate::model::{SearchFilter, ThreadId};

    #[test]
    fn the_names_have_the_order_of_the_fields() {
        assert_eq!(
            field_names::<SearchFilter>(),
            ["q", "forum", "by", "when", "in", "show", "sort"]
        );
        assert!(field_names::<ThreadId>().is_empty());
        assert!(field_names::<()>().is_empty());
    }
}
