//! A query or a body as a tree, and serde's types decoded from it.
//!
//! serde_json's own errors cannot be translated, name no path to the field, and let the last of repeated names win.
//! Here each error is an [`InputError`] that names the field.

use std::borrow::Cow;

use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Number;

use super::error::InputError;
use crate::model::{Expected, FORBIDDEN_CHARS};

/// JSON. An object keeps repeated names, so that they can be refused.
#[derive(Clone, Debug)]
pub(crate) enum InputValue<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// A query parameter's value: the type of its field decides how it is read.
    Parameter(Cow<'a, str>),
    List(Vec<InputValue<'a>>),
    Object(Vec<(Cow<'a, str>, InputValue<'a>)>),
}

impl<'a> InputValue<'a> {
    fn expected<T>(expected: Expected) -> Result<T, InputError> {
        Err(InputError::expected("", expected))
    }

    /// A JSON number beyond `i64` becomes the nearest `i64`, which the board refuses by its own rules.
    fn whole_number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64().or_else(|| saturate_i64(number)),
            Self::Parameter(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()
            }
            _ => None,
        }
    }

    fn boolean(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Parameter(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns whether it is an object with `true` in the field of this name.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        let Self::Object(fields) = self else {
            return false;
        };
        let mut found = fields.iter().filter(|(field, _)| field == name);
        found.any(|(_, value)| matches!(value, Self::Bool(true)))
    }

    fn text(self) -> Result<Cow<'a, str>, InputError> {
        match self {
            Self::Text(text) | Self::Parameter(text) if !text.contains(FORBIDDEN_CHARS) => Ok(text),
            Self::Text(_) | Self::Parameter(_) => Self::expected(Expected::TypedText),
            _ => Self::expected(Expected::Text),
        }
    }
}

fn saturate_i64(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    Some(float as i64)
}

macro_rules! numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
            match self.whole_number() {
                Some(number) => visitor.visit_i64(number),
                None => Self::expected(Expected::WholeNumber),
            }
        }
    )+};
}

macro_rules! texts {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
            self.text()?.into_deserializer().deserialize_str(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for InputValue<'_> {
    type Error = InputError;

    numbers! { deserialize_i64 deserialize_u64 }
    texts! { deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(_) => self.deserialize_bool(visitor),
            Self::Number(_) => self.deserialize_i64(visitor),
            Self::Text(_) | Self::Parameter(_) => self.deserialize_string(visitor),
            Self::List(_) => self.deserialize_seq(visitor),
            Self::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self.boolean() {
            Some(value) => visitor.visit_bool(value),
            None => Self::expected(Expected::Boolean),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Self::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Self::List(items) => visitor.visit_seq(SeqDeserializer(items.into_iter().enumerate())),
            _ => Self::expected(Expected::List),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Self::Object(fields) => visitor.visit_map(MapDeserializer {
                rest: fields.into_iter(),
                current: None,
            }),
            _ => Self::expected(Expected::Object),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct ignored_any
    }
}

struct SeqDeserializer<'a>(std::iter::Enumerate<std::vec::IntoIter<InputValue<'a>>>);

impl<'de> SeqAccess<'de> for SeqDeserializer<'_> {
    type Error = InputError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, InputError> {
        let item = self.0.next().map(|(index, value)| {
            seed.deserialize(value)
                .map_err(|error| error.in_field(&format!("[{index}]")))
        });
        item.transpose()
    }
}

struct MapDeserializer<'a> {
    rest: std::vec::IntoIter<(Cow<'a, str>, InputValue<'a>)>,
    current: Option<(Cow<'a, str>, InputValue<'a>)>,
}

impl<'de> MapAccess<'de> for MapDeserializer<'_> {
    type Error = InputError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, InputError> {
        self.current = self.rest.next();
        let name = self.current.as_ref().map(|(name, _)| &**name);
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, InputError> {
        let (name, value) = self.current.take().unwrap_or(("".into(), InputValue::Null));
        seed.deserialize(value)
            .map_err(|error| error.in_field(&name))
    }
}

impl<'de> Deserialize<'de> for InputValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Builds a value from the events of a JSON parser.
struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = InputValue<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<InputValue<'de>, E> {
        Ok(Number::from_f64(value).map_or(InputValue::Null, InputValue::Number))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Text(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<InputValue<'de>, E> {
        Ok(InputValue::Text(value.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<InputValue<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(InputValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<InputValue<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some((name, value)) = fields.next_entry::<String, _>()? {
            object.push((name.into(), value));
        }
        Ok(InputValue::Object(object))
    }
}
