//! [`InputValue`]: a query or a JSON body as a tree, and a serde deserializer over it.
//!
//! The errors of serde_json cannot be translated and do not contain the path of the field, and serde_json accepts
//! repeated names. Here each error is an [`InputError`] that names the field.

use std::borrow::Cow;
use std::collections::HashSet;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Number;

use super::error::{InputError, InputErrorKind, InputResult};
use crate::http_util::{BodyError, form_decode, form_pairs, is_json};
use crate::model::{Expected, FORBIDDEN_CHARS, ID};

impl From<BodyError> for InputError {
    fn from(error: BodyError) -> Self {
        let expected = match error {
            BodyError::TooLong => Expected::SMALLER_BODY,
            BodyError::TooManyParts => Expected::FEWER_PARTS,
            BodyError::Incomplete => Expected::COMPLETE_BODY,
        };
        Self::expected("body", expected)
    }
}

/// Checks that there is exactly one `content-type`, and that it is `application/json`.
pub(crate) fn require_json(headers: &HeaderMap) -> InputResult<()> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let kind = match (types.next(), types.next()) {
        (Some(_), Some(_)) => InputErrorKind::Repeated,
        (Some(one), None) if is_json(one) => return Ok(()),
        _ => InputErrorKind::Expected(Expected::JSON_TYPE.into()),
    };
    Err(InputError::new("content-type", kind))
}

/// Maximum number of values in a body: of objects, lists, texts, numbers, booleans and nulls, without the names of
/// fields. A body that a board can accept has some 1,000. [`Expected::FEWER_VALUES`] names it.
const MAX_VALUES: usize = 10_000;

/// Returns `true` if a JSON text has more than [`MAX_VALUES`] values. Reads the text up to the value that exceeds the
/// bound, and allocates nothing, so that a large tree is refused before it is built.
///
/// The result for another text is not specified: its parser rejects it.
pub(crate) fn has_too_many_values(json: &[u8]) -> bool {
    has_more_values(json, MAX_VALUES)
}

fn has_more_values(json: &[u8], max: usize) -> bool {
    // Each value needs a byte of its own, and a comma or a pair of brackets.
    if json.len() <= 2 * max {
        return false;
    }
    let mut values = 1;
    let mut is_after_opening = false;
    let mut rest = json;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if byte.is_ascii_whitespace() {
            continue;
        }
        let is_first_value = is_after_opening && !matches!(byte, b']' | b'}');
        values += usize::from(is_first_value || *byte == b',');
        if values > max {
            return true;
        }
        is_after_opening = matches!(byte, b'[' | b'{');
        if *byte == b'"' {
            rest = after_string(after);
        }
    }
    false
}

/// Returns the JSON after the end of a string. `json` begins after the opening quotation mark.
fn after_string(json: &[u8]) -> &[u8] {
    let mut rest = json;
    while let Some(position) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        let is_end = rest.get(position) == Some(&b'"');
        let length = if is_end { 1 } else { 2 };
        rest = rest.get(position + length..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// Returns `true` if a string of a JSON text contains half of a surrogate pair, such as `\ud83d` without its second
/// half.
pub(crate) fn has_half_pair(json: &[u8]) -> bool {
    let mut rest = json;
    let mut is_first_half = false;
    while let Some((byte, after)) = rest.split_first() {
        let is_escape = *byte == b'\\';
        let unit = is_escape.then(|| escaped_unit(after)).flatten();
        let is_second_half = unit.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        if is_first_half != is_second_half {
            return true;
        }
        is_first_half = unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit));
        let escaped = match unit {
            Some(_) => 5,
            None => is_escape.into(),
        };
        rest = after.get(escaped..).unwrap_or_default();
    }
    is_first_half
}

/// Returns the UTF-16 code unit of an escape such as `\u00e4`, after its backslash.
fn escaped_unit(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
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
    /// Segment of a path. It is parsed like a parameter, but a malformed id is an error.
    Segment(Cow<'a, str>),
    List(Vec<InputValue<'a>>),
    Object(Vec<(Cow<'a, str>, InputValue<'a>)>),
}

impl<'a> InputValue<'a> {
    /// Parses a query into an object. An absent query is an empty object.
    ///
    /// Names and values must be percent-encoded UTF-8.
    pub(crate) fn from_query(query: Option<&'a str>) -> InputResult<Self> {
        let parameter = |(name, value): (&'a str, &'a str)| {
            let error = |name: &str| InputError::expected(name, Expected::PERCENT_ENCODING);
            let name = form_decode(name).ok_or_else(|| error("query"))?;
            if name.contains(FORBIDDEN_CHARS) {
                let expected = Expected::TEXT_WITHOUT_NUL_OR_BOM;
                return Err(InputError::expected("query", expected));
            }
            let value = form_decode(value).ok_or_else(|| error(&name))?;
            Ok((name, Self::Parameter(value)))
        };
        let fields: Result<_, _> = form_pairs(query.unwrap_or_default()).map(parameter).collect();
        fields.map(Self::Object)
    }

    /// Parses a JSON body of at most [`MAX_VALUES`] values.
    pub(crate) fn from_json(body: &'a [u8]) -> InputResult<Self> {
        if has_too_many_values(body) {
            return Err(InputError::expected("body", Expected::FEWER_VALUES));
        }
        serde_json::from_slice(body).map_err(|_| {
            let expected =
                if has_half_pair(body) { Expected::WHOLE_SURROGATE_PAIRS } else { Expected::JSON };
            InputError::expected("body", expected)
        })
    }

    /// Removes a field from an object and returns its value; `None` if the object does not have the field.
    ///
    /// # Errors
    /// [`InputError`] if the name is repeated.
    pub(crate) fn take(&mut self, name: &str) -> InputResult<Option<Self>> {
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
    pub(crate) fn take_text(&mut self, name: &str) -> InputResult<Option<Cow<'a, str>>> {
        let text = self.take(name)?.map(Self::text).transpose();
        text.map_err(|error| error.in_field(name))
    }

    fn expected<T>(expected: Expected) -> InputResult<T> {
        Err(InputError::expected("", expected))
    }

    /// Returns the whole number; `None` for other values.
    pub(crate) fn whole_number(&self) -> Option<i128> {
        match self {
            Self::Number(number) => number.as_i128().or_else(|| whole_float(number)),
            Self::Parameter(text) | Self::Segment(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                text.parse().ok().filter(|_| is_number)
            }
            _ => None,
        }
    }

    fn number(&self) -> Option<f64> {
        let number = match self {
            Self::Number(number) => number.as_f64(),
            Self::Parameter(text) | Self::Segment(text) => text.parse().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite())
    }

    fn boolean(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Parameter(text) | Self::Segment(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn text(self) -> InputResult<Cow<'a, str>> {
        match self {
            Self::Text(text) | Self::Parameter(text) | Self::Segment(text) => {
                if text.contains(FORBIDDEN_CHARS) {
                    return Self::expected(Expected::TEXT_WITHOUT_NUL_OR_BOM);
                }
                Ok(text)
            }
            _ => Self::expected(Expected::TEXT),
        }
    }
}

const MIN_I64: i128 = i64::MIN as i128;
const MAX_U64: i128 = u64::MAX as i128;

fn whole_float(number: &Number) -> Option<i128> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    Some(float as i128)
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
            match self.whole_number().map($type::try_from) {
                Some(Ok(number)) => visitor.$visit(number),
                Some(Err(_)) => Self::expected(Expected::NUMBER_IN_BOUNDS),
                None => Self::expected(Expected::WHOLE_NUMBER),
            }
        }
    )+};
}

macro_rules! floats {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
            match self.number() {
                Some(number) => visitor.visit_f64(number),
                None => Self::expected(Expected::NUMBER),
            }
        }
    )+};
}

macro_rules! texts {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
            self.text()?.into_deserializer().deserialize_str(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for InputValue<'_> {
    type Error = InputError;

    integers! {
        deserialize_i8 visit_i8 i8
        deserialize_i16 visit_i16 i16
        deserialize_i32 visit_i32 i32
        deserialize_u8 visit_u8 u8
        deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32
        deserialize_u64 visit_u64 u64
        deserialize_i128 visit_i128 i128
        deserialize_u128 visit_u128 u128
    }
    floats! { deserialize_f32 deserialize_f64 }
    texts! { deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(_) => self.deserialize_bool(visitor),
            Self::Number(_) => match self.whole_number() {
                Some(0..=MAX_U64) => self.deserialize_u64(visitor),
                Some(MIN_I64..0) => self.deserialize_i64(visitor),
                _ => self.deserialize_f64(visitor),
            },
            Self::Text(_) | Self::Parameter(_) | Self::Segment(_) => {
                self.deserialize_string(visitor)
            }
            Self::List(_) => self.deserialize_seq(visitor),
            Self::Object(_) => self.deserialize_map(visitor),
        }
    }

    /// An integer outside of `i64` becomes the nearest `i64`, which the board's own rules reject.
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self.whole_number() {
            Some(number) => {
                let nearest = number.clamp(i64::MIN.into(), i64::MAX.into());
                visitor.visit_i64(nearest as i64)
            }
            None => Self::expected(Expected::WHOLE_NUMBER),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self.boolean() {
            Some(value) => visitor.visit_bool(value),
            None => Self::expected(Expected::BOOLEAN),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self {
            Self::Null => visitor.visit_unit(),
            _ => Self::expected(Expected::TEXT),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self {
            Self::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        match self {
            Self::List(items) => visitor.visit_seq(SeqDeserializer(items.into_iter().enumerate())),
            _ => Self::expected(Expected::LIST),
        }
    }

    /// Rejects repeated names. A struct rejects them itself.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> InputResult<V::Value> {
        if let Self::Object(fields) = &self {
            reject_repeated(fields)?;
        }
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> InputResult<V::Value> {
        match self {
            Self::Object(fields) => visitor.visit_map(MapDeserializer::new(fields)),
            _ => Self::expected(Expected::OBJECT),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> InputResult<V::Value> {
        match self {
            Self::Segment(text) if name == ID => visitor.visit_str(&text),
            value => visitor.visit_newtype_struct(value),
        }
    }

    /// A variant with fields is an object with the name of the variant.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> InputResult<V::Value> {
        match self {
            Self::Object(fields) if has_variant(&fields) => {
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(fields)))
            }
            value => visitor.visit_enum(value.text()?.into_deserializer()),
        }
    }

    forward_to_deserialize_any! {
        char bytes byte_buf unit_struct tuple tuple_struct ignored_any
    }
}

/// Rejects repeated names in an object.
pub(crate) fn reject_repeated(fields: &[(Cow<'_, str>, InputValue<'_>)]) -> InputResult<()> {
    let mut names = HashSet::new();
    match fields.iter().find(|(name, _)| !names.insert(name)) {
        Some((name, _)) => Err(InputError::new(&**name, InputErrorKind::Repeated)),
        None => Ok(()),
    }
}

/// Returns `true` for an object with one field that is not null: a variant without fields is a text.
fn has_variant(fields: &[(Cow<'_, str>, InputValue<'_>)]) -> bool {
    matches!(fields, [(_, value)] if !matches!(value, InputValue::Null))
}

struct SeqDeserializer<'a>(std::iter::Enumerate<std::vec::IntoIter<InputValue<'a>>>);

impl<'de> SeqAccess<'de> for SeqDeserializer<'_> {
    type Error = InputError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> InputResult<Option<T::Value>> {
        let item = self.0.next().map(|(index, value)| {
            seed.deserialize(value).map_err(|error| error.in_field(&format!("[{index}]")))
        });
        item.transpose()
    }
}

struct MapDeserializer<'a> {
    rest: std::vec::IntoIter<(Cow<'a, str>, InputValue<'a>)>,
    current: Option<(Cow<'a, str>, InputValue<'a>)>,
}

impl<'a> MapDeserializer<'a> {
    fn new(fields: Vec<(Cow<'a, str>, InputValue<'a>)>) -> Self {
        Self { rest: fields.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for MapDeserializer<'_> {
    type Error = InputError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> InputResult<Option<K::Value>> {
        self.current = self.rest.next();
        let name = self.current.as_ref().map(|(name, _)| &**name);
        name.map(|name| seed.deserialize(InputValue::Parameter(name.into()))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> InputResult<V::Value> {
        let (name, value) = self.current.take().unwrap_or(("".into(), InputValue::Null));
        seed.deserialize(value).map_err(|error| error.in_field(&name))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::has_more_values;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[\\[\\]{}:,\"\\\\ \u{e4}]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 5, |inner| {
            let fields = prop::collection::btree_map("[\\[,\"\\\\]{0,3}", inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::from),
                fields.prop_map(|fields| json!(fields)),
            ]
        })
    }

    fn count_values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count_values).sum(),
            Value::Object(fields) => fields.values().map(count_values).sum(),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn values_are_counted_exactly(value in any_json()) {
            let count = count_values(&value);
            for json in [serde_json::to_vec(&value).unwrap(), serde_json::to_vec_pretty(&value).unwrap()] {
                prop_assert!(has_more_values(&json, count - 1));
                prop_assert!(!has_more_values(&json, count));
            }
        }
    }
}
