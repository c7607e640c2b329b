//! The arguments of a call as the client sent them, with values that are not decoded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Arguments of a call, in the order in which the client sent them. A name can be repeated.
#[derive(Default)]
pub(super) struct Arguments<'a>(pub(super) Vec<Argument<'a>>);

/// Name and value.
pub(super) type Argument<'a> = (Cow<'a, str>, &'a RawValue);

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgumentsVisitor)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = Arguments<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Arguments<'de>, A::Error> {
        let mut arguments = Vec::with_capacity(4);
        while let Some((Text(name), value)) = map.next_entry()? {
            arguments.push((name, value));
        }
        Ok(Arguments(arguments))
    }
}

/// A JSON string, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);
