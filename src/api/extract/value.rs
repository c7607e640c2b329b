//! A query or a body as a tree, and serde's types decoded from it with complaints of our own.
//!
//! No parser's own words reach the wire: each refusal is a [`Complaint`] that names the field.

use std::borrow::Cow;

use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Number;

use crate::api::extract::error::Complaint;
use crate::model::UNTYPED;

/// JSON, with an object's repeated names kept, so that they can be refused.
#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// A query parameter's value, which is read as whatever its field takes.
    Parameter(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    fn expected<T>(phrase: &'static str) -> Result<T, Complaint> {
        Err(Complaint::expected("", phrase))
    }

    /// A JSON number beyond `i64` becomes the nearest one: out of range for any field, which is the board's matter.
    fn whole_number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64().or_else(|| saturated(number)),
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

    fn text(self) -> Result<Cow<'a, str>, Complaint> {
        match self {
            Self::Text(text) | Self::Parameter(text) if !text.contains(UNTYPED) => Ok(text),
            Self::Text(_) | Self::Parameter(_) => {
                Self::expected("text without U+0000 and byte-order marks")
            }
            _ => Self::expected("text"),
        }
    }
}

fn saturated(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    Some(float as i64)
}

macro_rules! numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
            match self.whole_number() {
                Some(number) => visitor.visit_i64(number),
                None => Self::expected("a whole number"),
            }
        }
    )+};
}

macro_rules! texts {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
            self.text()?.into_deserializer().deserialize_str(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Complaint;

    numbers! { deserialize_i64 deserialize_u64 }
    texts! { deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(_) => self.deserialize_bool(visitor),
            Self::Number(_) => self.deserialize_i64(visitor),
            Self::Text(_) | Self::Parameter(_) => self.deserialize_string(visitor),
            Self::List(_) => self.deserialize_seq(visitor),
            Self::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self.boolean() {
            Some(value) => visitor.visit_bool(value),
            None => Self::expected("true or false"),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self {
            Self::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self {
            Self::List(items) => visitor.visit_seq(Items(items.into_iter().enumerate())),
            _ => Self::expected("a list"),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self {
            Self::Object(fields) => visitor.visit_map(Fields {
                rest: fields.into_iter(),
                current: None,
            }),
            _ => Self::expected("an object"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct ignored_any
    }
}

struct Items<'a>(std::iter::Enumerate<std::vec::IntoIter<Node<'a>>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Complaint> {
        let item = self.0.next().map(|(index, node)| {
            seed.deserialize(node)
                .map_err(|complaint| complaint.within(&format!("[{index}]")))
        });
        item.transpose()
    }
}

struct Fields<'a> {
    rest: std::vec::IntoIter<(Cow<'a, str>, Node<'a>)>,
    current: Option<(Cow<'a, str>, Node<'a>)>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Complaint;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Complaint> {
        self.current = self.rest.next();
        let name = self.current.as_ref().map(|(name, _)| &**name);
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Complaint> {
        let (name, node) = self.current.take().unwrap_or(("".into(), Node::Null));
        seed.deserialize(node)
            .map_err(|complaint| complaint.within(&name))
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

/// Builds a node from what a JSON parser meets.
struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node<'de>, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node<'de>, E> {
        Ok(Number::from_f64(value).map_or(Node::Null, Node::Number))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(value.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Node<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some((name, value)) = fields.next_entry::<String, _>()? {
            object.push((name.into(), value));
        }
        Ok(Node::Object(object))
    }
}
