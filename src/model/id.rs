//! Ids: opaque strings of 1 to 64 characters of `[A-Za-z0-9_-]`, but not `-` ([protocol](crate::guide::protocol), section 6.1).

use std::collections::HashSet;
use std::fmt;

use itoa::Buffer;
use schemars::{Schema, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Expected;
use super::serde_helpers::{FORBIDDEN_CHARS, inline_schema};
use crate::error::{ParseError, impl_from_str};

/// Error of the conversion of an id to `i64`: the id is not an integer in canonical form.
///
/// `?` converts it to [`BoardError::PathNotFound`](crate::host::BoardError::PathNotFound): on a board with numeric ids no
/// resource has such an id. For an id of the body, return [`BoardError::NotFound`](crate::host::BoardError::NotFound)
/// instead.
///
/// ```
/// use forum_api::model::ThreadId;
///
/// let id = ThreadId::from(16);
/// assert_eq!((ThreadId::parse("16"), id.to_i64()), (Ok(id.clone()), Ok(16)));
///
/// let id: ThreadId = "0f8fad5b-d9cb-469f-a165-70867728950e".parse().unwrap();
/// assert!(id.to_i64().is_err());
/// assert!(ThreadId::parse("a/b").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id is not a number in canonical form")]
#[non_exhaustive]
pub struct InvalidIdError;

/// Representation of an id. An integer needs no allocation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Number(i64),
    Text(Box<str>),
}

impl Repr {
    fn parse(text: &str) -> Result<Self, ParseError> {
        check_id(text)?;
        let number = text.parse::<i64>().ok().filter(|n| is_canonical(*n, text));
        Ok(number.map_or_else(|| Self::Text(text.into()), Self::Number))
    }
}

const fn is_id_text(mut text: &[u8]) -> bool {
    while let [first, rest @ ..] = text {
        if !(first.is_ascii_alphanumeric() || matches!(*first, b'_' | b'-')) {
            return false;
        }
        text = rest;
    }
    true
}

/// Regular expression of an id, without look-ahead, which not every engine has.
pub(crate) const ID_PATTERN: &str = "^([A-Za-z0-9_]|[A-Za-z0-9_-]{2,64})$";

/// The last sentence of the description of each id in the OpenAPI document.
pub(crate) const ID_CHARACTERS: &str =
    "It has 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`, and is not `-`.";

/// Rejects texts that are not 1 to 64 characters of `[A-Za-z0-9_-]`, and `-`, which is reserved for paths.
pub(crate) fn check_id(text: &str) -> Result<(), ParseError> {
    let is_valid = (1..=64).contains(&text.len()) && is_id_text(text.as_bytes()) && text != "-";
    if is_valid {
        Ok(())
    } else {
        Err(ParseError::new("1 to 64 characters of A-Z, a-z, 0-9, _ and -, other than -"))
    }
}

/// Returns `true` if `text` is the canonical form of `number`: "007" and "+7" are not equal to "7", so that a resource
/// has only one path.
fn is_canonical(number: i64, text: &str) -> bool {
    text.len() == number.checked_ilog10().map_or(1, |log| log as usize + 1) || {
        number < 0 && number.to_string() == text
    }
}

impl Serialize for Repr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_str(Buffer::new().format(*number)),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Name of the newtype struct that ids pass to a deserializer. The deserializer of a path calls `visit_str`, which refuses
/// a malformed id. Others call `visit_newtype_struct`, which replaces it with the empty id.
pub(crate) const ID: &str = "forum_api::model::Id";

/// Visitor with the functions that parse an id and return the empty id.
struct IdVisitor<T>(fn(&str) -> Result<T, ParseError>, fn() -> T);

impl<'de, T> Visitor<'de> for IdVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok((self.0)(&text).unwrap_or_else(|_| (self.1)()))
    }
}

fn schema(description: &str, example: &str) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": ID_PATTERN,
        "description": format!("{description} {ID_CHARACTERS}"),
        "examples": [example],
    })
}

macro_rules! ids {
    ($($visibility:vis $name:ident $example:literal: $description:literal;)+) => {$(
        #[doc = $description]
        ///
        /// An opaque string of 1 to 64 characters of `[A-Za-z0-9_-]`, but not `-`.
        ///
        /// `Deserialize` converts a malformed text to the empty id, which no resource has. In a path a malformed id is
        /// a 404.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(Repr);

        impl $name {
            /// Parses an id.
            ///
            /// # Errors
            /// [`ParseError`] unless the text is 1 to 64 characters of `[A-Za-z0-9_-]` and not `-`.
            $visibility fn parse(text: &str) -> Result<Self, ParseError> {
                Repr::parse(text).map(Self)
            }

            /// Creates an id from a text of the allowed characters that is not a number.
            #[allow(dead_code, reason = "only some ids are generated")]
            pub(crate) fn from_valid_text(text: String) -> Self {
                debug_assert!(Self::parse(&text).is_ok());
                Self(Repr::Text(text.into()))
            }

            /// Returns the empty id, which no resource has.
            pub(crate) fn empty() -> Self {
                Self(Repr::Text("".into()))
            }

        }

        impl_from_str!($name);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        display_debug!($name);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_newtype_struct(ID, IdVisitor(Self::parse, Self::empty))
            }
        }

        inline_schema!($name, schema($description, $example));
    )+};
}

/// Conversions of the ids of a board, which can be numbers.
macro_rules! numeric_ids {
    ($($name:ident)+) => {$(
        /// Boards with numeric ids use `From<i64>` and [`to_i64`](Self::to_i64). Boards with other ids use
        /// [`parse`](Self::parse) and `to_string`.
        impl $name {
            /// Converts the id to an `i64`.
            ///
            /// # Errors
            /// [`InvalidIdError`] unless the id is an integer in canonical form: "7", not "007" or "+7".
            pub fn to_i64(&self) -> Result<i64, InvalidIdError> {
                match self.0 {
                    Repr::Number(number) => Ok(number),
                    Repr::Text(_) => Err(InvalidIdError),
                }
            }
        }

        impl TryFrom<&$name> for i64 {
            type Error = InvalidIdError;

            fn try_from(id: &$name) -> Result<Self, InvalidIdError> {
                id.to_i64()
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(Repr::Number(number))
            }
        }
    )+};
}

numeric_ids! { ForumId ThreadId PostId UserId PollId OptionId RatingId MessageId }

ids! {
    pub ForumId "2": "The id of a forum.";
    pub ThreadId "16": "The id of a thread.";
    pub PostId "69": "The id of a post.";
    pub UserId "4": "The id of a member.";
    pub PollId "1": "The id of a poll.";
    pub OptionId "1": "The id of a poll's option.";
    pub RatingId "1": "The id of a reputation rating.";
    pub MessageId "2": "The id of one member's copy of a private message.";
    pub(crate) TargetId "16": "The id of a subscription's target: a thread or a forum.";
    pub EventId "evt_3kTMd0a9bYcQxZ7LpWvJ2e": "The id of a webhook event.";
    pub EndpointId "whe_0pQv8sT1mZr5Yx2KdLw4Nc": "The id of an endpoint that receives webhooks.";
    pub DeliveryId "dlv_7hRb2cXf9GjU4aEo1TqViM": "The id of a webhook delivery, which is the same for each attempt.";
    pub AuditEntryId "aud_5nWk3yPz8DsH6lBt0CgFuJ": "The id of an entry of the audit log.";
}

macro_rules! convert_ids {
    ($($from:ident => $into:ident;)+) => {$(
        impl From<$from> for $into {
            fn from(id: $from) -> Self {
                Self(id.0)
            }
        }
    )+};
}

impl TargetId {
    pub(super) fn into_thread(self) -> ThreadId {
        ThreadId(self.0)
    }

    pub(super) fn into_forum(self) -> ForumId {
        ForumId(self.0)
    }
}

convert_ids! {
    ThreadId => TargetId;
    ForumId => TargetId;
}

/// Reference to a member: an id or `@username` ([protocol](crate::guide::protocol), section 6.3).
///
/// The board decides whether usernames are case-sensitive. A malformed reference in a request body is decoded as the empty
/// id, which no member has.
///
/// ```
/// use forum_api::model::{UserId, UserRef};
///
/// assert_eq!(UserRef::parse("3"), Ok(UserRef::Id(UserId::from(3))));
/// assert_eq!(UserRef::parse("@alice"), Ok(UserRef::Name("alice".into())));
/// assert!(UserRef::parse("@").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserRef {
    /// Id of the member.
    Id(UserId),
    /// Username without the `@`, 1 to 64 characters.
    Name(String),
}

impl UserRef {
    /// Parses a reference.
    ///
    /// # Errors
    /// [`ParseError`] unless the text is an id, or `@` and 1 to 64 characters without U+0000 and byte-order marks.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let error = ParseError::new(Expected::USER_REF.as_str());
        let Some(name) = text.strip_prefix('@') else {
            return UserId::parse(text).map(Self::Id).map_err(|_| error);
        };
        let is_name = (1..=64).contains(&name.chars().count()) && !name.contains(FORBIDDEN_CHARS);
        if is_name { Ok(Self::Name(name.into())) } else { Err(error) }
    }

    /// Separates references into ids and names, each in order and without repetitions, so that a board can look up all
    /// members with one statement.
    ///
    /// A member can be in both lists. On a board whose usernames are not case-sensitive, two names can be the same
    /// member. Therefore compare the ids of the members that were found.
    ///
    /// ```
    /// use forum_api::model::{UserId, UserRef};
    ///
    /// let to = ["3", "@bob", "4", "@bob"].map(|text| text.parse().unwrap());
    /// let (ids, names) = UserRef::partition(&to);
    /// assert_eq!(ids, [&UserId::from(3), &UserId::from(4)]);
    /// assert_eq!(names, ["bob"]);
    /// ```
    pub fn partition(references: &[Self]) -> (Vec<&UserId>, Vec<&str>) {
        let mut ids = Vec::new();
        let mut names = Vec::new();
        let mut seen = HashSet::new();
        for reference in references.iter().filter(|reference| seen.insert(*reference)) {
            match reference {
                Self::Id(id) => ids.push(id),
                Self::Name(name) => names.push(name.as_str()),
            }
        }
        (ids, names)
    }
}

impl_from_str!(UserRef);

impl From<UserId> for UserRef {
    fn from(id: UserId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for UserRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => write!(f, "@{name}"),
        }
    }
}

impl Serialize for UserRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UserRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let empty = || Self::Id(UserId::empty());
        deserializer.deserialize_newtype_struct(ID, IdVisitor(Self::parse, empty))
    }
}

inline_schema!(
    UserRef,
    json_schema!({
        "type": "string",
        "pattern": "^([A-Za-z0-9_]|[A-Za-z0-9_-]{2,64}|@.{1,64})$",
        "description": "A member: a userId of 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-` that is not `-`, or `@` and a username of 1 to 64 characters.",
        "examples": ["@bob"],
    })
);

#[cfg(test)]
mod tests {
    use super::{ThreadId, UserRef};

    #[test]
    fn only_the_canonical_form_is_an_integer() {
        for (text, number) in [
            ("7", Some(7)),
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("1000", Some(1000)),
            ("007", None),
            ("-0", None),
            ("x", None),
        ] {
            let parsed = ThreadId::parse(text).unwrap();
            assert_eq!(parsed.to_i64().ok(), number, "{text}");
            assert_eq!(ThreadId::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_username_has_no_forbidden_character() {
        for (text, is_valid) in
            [("@älice", true), ("@", false), ("@a\0", false), ("@\u{feff}a", false)]
        {
            assert_eq!(UserRef::parse(text).is_ok(), is_valid, "{text:?}");
        }
    }

    #[test]
    fn an_id_has_allowed_characters_and_a_bounded_length() {
        for text in ["", "-", "+7", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert!(ThreadId::parse(text).is_err(), "{text}");
            assert!(UserRef::parse(text).is_err(), "{text}");
        }
        for text in ["_", "--", "-1", "7"] {
            assert_eq!(ThreadId::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(UserRef::parse("@-"), Ok(UserRef::Name("-".into())));
    }
}
