//! [`InputValue`]: a query or a JSON body as a tree, and a serde deserializer over it.
//!
//! The errors of serde_json cannot be translated and do not contain the path of the field, and serde_json accepts
//! repeated names. Here each error is an [`InputError`] that names the field.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Number;

use super::error::{InputError, InputErrorKind};
use crate::http_util::{BodyError, form_decode, form_pairs};
use crate::model::{Expected, FORBIDDEN_CHARS};

impl From<BodyError> for InputError {
    fn from(error: BodyError) -> Self {
        let expected = match error {
            BodyError::TooLong => Expected::SmallerBody,
            BodyError::Incomplete => Expected::CompleteBody,
        };
        Self::expected("body", expected)
    }
}

/// Checks that there is exactly one `content-type`, and that it is `application/json`.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), InputError> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let first = types.next().and_then(|value| value.to_str().ok());
    let essence = first.and_then(|value| value.split(';').next());
    let is_json =
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    if is_json && types.next().is_none() {
        return Ok(());
    }
    Err(InputError::expected("content-type", Expected::JsonType))
}

/// A JSON value. An object keeps repeated names, so that they can be rejected.
#[derive(Clone, Debug)]
pub(crate) enum InputValue<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// Value of a query parameter. The type of its field determines how it is parsed.
    Parameter(Cow<'a, str>),
    List(Vec<InputValue<'a>>),
    Object(Vec<(Cow<'a, str>, InputValue<'a>)>),
}

impl<'a> InputValue<'a> {
    /// Parses a query into an object. An absent query is an empty object.
    ///
    /// Names and values must be percent-encoded UTF-8.
    pub(crate) fn from_query(query: Option<&'a str>) -> Result<Self, InputError> {
        let parameter = |(name, value): (&'a str, &'a str)| {
            let error = |name: &str| InputError::expected(name, Expected::PercentEncoding);
            let name = form_decode(name).ok_or_else(|| error("query"))?;
            let value = form_decode(value).ok_or_else(|| error(&name))?;
            Ok((name, Self::Parameter(value)))
        };
        let fields: Result<_, _> = form_pairs(query.unwrap_or_default())
            .map(parameter)
            .collect();
        fields.map(Self::Object)
    }

    /// Parses a JSON body.
    pub(crate) fn from_json(body: &'a [u8]) -> Result<Self, InputError> {
        serde_json::from_slice(body).map_err(|_| InputError::expected("body", Expected::Json))
    }

    /// Removes a field from an object and returns its value; `None` if the object does not have the field.
    ///
    /// # Errors
    /// [`InputError`] if the name is repeated.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<Self>, InputError> {
        let Self::Object(fields) = self else {
            return Ok(None);
        };
        let Some(index) = fields.iter().position(|(field, _)| field == name) else {
            return Ok(None);
        };
        let (_, value) = fields.remove(index);
        if fields.iter().any(|(field, _)| field == name) {
            return Err(InputError::new(name, InputErrorKind::Repeated));
        }
        Ok(Some(value))
    }

    /// Removes a field from an object and returns its text; `None` if the object does not have the field.
    ///
    /// # Errors
    /// [`InputError`] if the name is repeated, or the value is not an accepted text.
    pub(crate) fn take_text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, InputError> {
        let text = self.take(name)?.map(Self::text).transpose();
        text.map_err(|error| error.in_field(name))
    }

    fn expected<T>(expected: Expected) -> Result<T, InputError> {
        Err(InputError::expected("", expected))
    }

    /// Returns the whole number; `None` for other values. A JSON number outside of `i64` becomes the nearest `i64`,
    /// which the board's own rules reject.
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

    fn text(self) -> Result<Cow<'a, str>, InputError> {
        match self {
            Self::Text(text) | Self::Parameter(text) if !text.contains(FORBIDDEN_CHARS) => Ok(text),
            Self::Text(_) | Self::Parameter(_) => Self::expected(Expected::TextWithoutNulOrBom),
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
