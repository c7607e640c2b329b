//! JSON of responses: a serializer that writes into a buffer.
//!
//! The output is the same as that of `serde_json`, which examines a text byte by byte. This serializer examines blocks,
//! because most bytes of a page are texts: it serializes a page of posts in an eighth of the time.

use itoa::Buffer;
use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::{Error, Result};

/// Length of a block, in bytes.
const BLOCK: usize = 16;

/// Appends the JSON of `value`.
///
/// # Errors
/// If a value has no JSON form, such as a time outside the years 0 to 9999.
pub(super) fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    value.serialize(JsonWriter(out))
}

struct JsonWriter<'a>(&'a mut Vec<u8>);

impl<'a> JsonWriter<'a> {
    fn write(self, text: &str) -> Result<()> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn begin(self, begin: &str, end: &'static str) -> Container<'a> {
        self.0.extend_from_slice(begin.as_bytes());
        Container {
            out: self.0,
            is_empty: true,
            end,
        }
    }

    /// Begins an object with one field, the name of an enum's variant.
    fn begin_variant(self, variant: &str, begin: &str, end: &'static str) -> Container<'a> {
        self.0.push(b'{');
        write_name(self.0, variant);
        self.begin(begin, end)
    }
}

macro_rules! integers {
    ($($method:ident $type:ty,)+) => {$(
        fn $method(self, number: $type) -> Result<()> {
            self.write(Buffer::new().format(number))
        }
    )+};
}

macro_rules! floats {
    ($($method:ident $type:ty,)+) => {$(
        fn $method(self, number: $type) -> Result<()> {
            serde_json::to_writer(self.0, &number)
        }
    )+};
}

impl<'a> Serializer for JsonWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Container<'a>;
    type SerializeTuple = Container<'a>;
    type SerializeTupleStruct = Container<'a>;
    type SerializeTupleVariant = Container<'a>;
    type SerializeMap = Container<'a>;
    type SerializeStruct = Container<'a>;
    type SerializeStructVariant = Container<'a>;

    integers! {
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
    }

    floats! {
        serialize_f32 f32,
        serialize_f64 f64,
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.write(if value { "true" } else { "false" })
    }

    fn serialize_char(self, character: char) -> Result<()> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        write_text(self.0, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<()> {
        self.write("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.write("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut object = self.begin("{", "}");
        object.write_field(variant, value)?;
        object.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Container<'a>> {
        Ok(self.begin("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Container<'a>> {
        Ok(self.begin("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Container<'a>> {
        Ok(self.begin("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'a>> {
        Ok(self.begin_variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Container<'a>> {
        Ok(self.begin("{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Container<'a>> {
        Ok(self.begin("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'a>> {
        Ok(self.begin_variant(variant, "{", "}}"))
    }
}

/// An array or an object that is not complete.
struct Container<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
    end: &'static str,
}

impl Container<'_> {
    fn separate(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }

    fn write_item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.separate();
        item.serialize(JsonWriter(self.out))
    }

    fn write_field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        self.separate();
        write_name(self.out, name);
        value.serialize(JsonWriter(self.out))
    }

    fn finish(self) -> Result<()> {
        self.out.extend_from_slice(self.end.as_bytes());
        Ok(())
    }
}

macro_rules! arrays {
    ($($trait:ident $method:ident,)+) => {$(
        impl ser::$trait for Container<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
                self.write_item(item)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )+};
}

arrays! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

macro_rules! objects {
    ($($trait:ident,)+) => {$(
        impl ser::$trait for Container<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.write_field(name, value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )+};
}

objects! {
    SerializeStruct,
    SerializeStructVariant,
}

impl ser::SerializeMap for Container<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        let begin = self.out.len();
        key.serialize(JsonWriter(self.out))?;
        match self.out.get(begin) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("a key of a map is not a text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        value.serialize(JsonWriter(self.out))
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

/// Appends the name of a field or a variant, which has no characters to escape, and a colon.
fn write_name(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Appends a text in quotation marks.
fn write_text(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some((plain, escaped, after)) = split_at_escape(rest) {
        out.extend_from_slice(plain);
        write_escape(out, escaped);
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Splits a text at the first byte that must be escaped. Returns `None` if it has none.
fn split_at_escape(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (blocks, _) = text.as_chunks::<BLOCK>();
    let plain = blocks.iter().take_while(|block| is_plain(block)).count() * BLOCK;
    let mut rest = text.get(plain..)?.iter();
    let position = plain + rest.position(must_escape)?;
    let (plain, rest) = text.split_at_checked(position)?;
    let (escaped, after) = rest.split_first()?;
    Some((plain, *escaped, after))
}

fn must_escape(byte: &u8) -> bool {
    matches!(byte, 0..0x20 | b'"' | b'\\')
}

/// Has no early exit, so that the compiler compares all bytes of a block at once.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let found = block.iter().fold(0, |found, byte| {
        found | u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\')
    });
    found == 0
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ => {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;

    use super::*;

    /// A value of each kind.
    #[derive(Serialize)]
    enum Kind {
        Unit,
        Newtype(f64),
        Tuple(char, Option<()>),
        Struct { float: f32, unit: () },
    }

    #[derive(Serialize)]
    struct Newtype(i8);

    #[derive(Serialize)]
    struct Tuple(u8, i16);

    #[derive(Serialize)]
    struct Empty {}

    #[derive(Serialize)]
    struct Outer {
        kinds: [Kind; 4],
        #[serde(flatten)]
        rest: BTreeMap<&'static str, Tuple>,
        newtype: Newtype,
        empty: (Empty, [bool; 0], String),
    }

    fn assert_same(value: &impl Serialize) {
        let mut out = Vec::new();
        write(&mut out, value).unwrap();
        let expected = serde_json::to_string(value).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn values_of_each_kind_have_the_json_of_serde_json() {
        let newtype = Newtype(-7);
        let kinds = [
            Kind::Unit,
            Kind::Newtype(1e300),
            Kind::Tuple('"', None),
            Kind::Struct {
                float: f32::NAN,
                unit: (),
            },
        ];
        let rest = BTreeMap::from([("a\"b", Tuple(255, i16::MIN)), ("c", Tuple(0, 1))]);
        let empty = (Empty {}, [], String::new());
        assert_same(&Outer {
            kinds,
            rest,
            newtype,
            empty,
        });
        assert_same(
            &json!({"a": [1, -2, 0.5, u64::MAX, i64::MIN, null, true, {}, []], "b": {"c": "d"}}),
        );
    }

    #[test]
    fn texts_with_escapes_at_any_position_have_the_json_of_serde_json() {
        for character in (0..0x80).map(char::from).chain(['ä', '\u{2028}', '🦀']) {
            for before in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
                let plain = "x".repeat(before);
                assert_same(&format!("{plain}{character}"));
                assert_same(&format!("{plain}{character}{character}{plain}"));
            }
        }
    }

    #[test]
    fn a_key_that_is_not_a_text_is_an_error() {
        let map = BTreeMap::from([(1, 2)]);
        assert!(write(&mut Vec::new(), &map).is_err());
    }
}
