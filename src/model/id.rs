//! Ids: opaque strings of 1-64 `[A-Za-z0-9_-]` (`docs/protocol.md`, section 6.1), made from `i64` without ceremony.

use std::fmt;

use schemars::{Schema, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::serde_helpers::{ALLOWED_TEXT_PATTERN, FORBIDDEN_CHARS, inline_schema};

/// An id was asked for its number, and is none in canonical form: nothing on a board with `i64` ids has it.
///
/// `?` in a command turns it into [`BoardError::Absent`](crate::host::BoardError::Absent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the id is not a number in canonical form")]
pub struct InvalidIdError;

/// A number is kept as one, so that ids of a board with `i64` keys cost no allocation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Number(i64),
    Text(Box<str>),
}

impl Repr {
    /// `None` for what is no id at all.
    fn parse(text: &str) -> Option<Self> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=64).contains(&text.len()) || !text.bytes().all(legal) {
            return None;
        }
        let number = text.parse::<i64>().ok().filter(|n| is_canonical(*n, text));
        Some(number.map_or_else(|| Self::Text(text.into()), Self::Number))
    }
}

/// "007" and "+7" are other ids than "7": a thread has one address.
fn is_canonical(number: i64, text: &str) -> bool {
    text.len() == number.checked_ilog10().map_or(1, |log| log as usize + 1) || {
        number < 0 && number.to_string() == text
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

fn schema(what: &str) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,64}$",
        "description": what,
        "examples": ["17"],
    })
}

macro_rules! ids {
    ($($name:ident: $what:literal;)+) => {$(
        #[doc = $what]
        ///
        /// An opaque string of 1-64 `[A-Za-z0-9_-]`. Made with `From<i64>`, or with [`parse`](Self::parse) from text.
        /// Whatever else a client sends in a body becomes the empty id, which nothing has.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Repr);

        impl $name {
            /// The id that `text` spells; `None` unless it is 1-64 `[A-Za-z0-9_-]`.
            pub fn parse(text: &str) -> Option<Self> {
                Repr::parse(text).map(Self)
            }

            /// The empty id, which nothing has.
            pub(crate) fn nothing() -> Self {
                Self(Repr::Text("".into()))
            }

            /// The id as an `i64`.
            ///
            /// # Errors
            /// [`InvalidIdError`] unless it is a number in canonical form ("7", not "007" or "+7").
            pub fn to_i64(&self) -> Result<i64, InvalidIdError> {
                match self.0 {
                    Repr::Number(number) => Ok(number),
                    Repr::Text(_) => Err(InvalidIdError),
                }
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(Repr::Number(number))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Ok(Self::parse(&text).unwrap_or_else(Self::nothing))
            }
        }

        inline_schema!($name, stringify!($name), schema($what));
    )+};
}

ids! {
    ForumId: "The id of a forum.";
    ThreadId: "The id of a thread.";
    PostId: "The id of a post.";
    UserId: "The id of a member.";
    PollId: "The id of a poll.";
    OptionId: "The id of a poll's option.";
    RatingId: "The id of a reputation rating.";
    MessageId: "The id of one member's copy of a private message.";
    TargetId: "The id of a subscription's target: a thread or a forum.";
    EventId: "The id of a webhook event.";
    EndpointId: "The id of an endpoint that receives webhooks.";
    DeliveryId: "The id of a webhook delivery: the same on each of its attempts.";
}

macro_rules! same_id {
    ($($from:ident => $into:ident;)+) => {$(
        impl From<$from> for $into {
            fn from(id: $from) -> Self {
                Self(id.0)
            }
        }
    )+};
}

same_id! {
    ThreadId => TargetId;
    ForumId => TargetId;
    TargetId => ThreadId;
    TargetId => ForumId;
}

/// A member as a client names one: by id, or by `@username` (`docs/protocol.md`, section 6.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserRef {
    /// By id.
    Id(UserId),
    /// By name, without the `@`.
    Name(String),
}

impl UserRef {
    /// `None` for what can name nobody: no id, and no `@` followed by 1-64 characters that can be typed.
    pub fn parse(text: &str) -> Option<Self> {
        let Some(name) = text.strip_prefix('@') else {
            return UserId::parse(text).map(Self::Id);
        };
        let is_name = (1..=64).contains(&name.chars().count()) && !name.contains(FORBIDDEN_CHARS);
        is_name.then(|| Self::Name(name.into()))
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
        let text = String::deserialize(deserializer)?;
        Ok(Self::parse(&text).unwrap_or_else(|| Self::Id(UserId::nothing())))
    }
}

inline_schema!(
    UserRef,
    "UserRef",
    json_schema!({
        "type": "string",
        "pattern": format!("^([A-Za-z0-9_-]{{1,64}}|@{ALLOWED_TEXT_PATTERN}{{1,64}})$"),
        "description": "A member: a userId, or @username.",
        "examples": ["@alice"],
    })
);

#[cfg(test)]
mod tests {
    use super::{ThreadId, UserRef};

    #[test]
    fn only_the_canonical_form_is_a_number() {
        for (text, number) in [
            ("7", Some(7)),
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("1000", Some(1000)),
            ("007", None),
            ("-0", None),
            ("x", None),
        ] {
            assert_eq!(
                ThreadId::parse(text).unwrap().to_i64().ok(),
                number,
                "{text}"
            );
            assert_eq!(ThreadId::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_name_can_be_typed() {
        for (text, is_one) in [
            ("@älice", true),
            ("@", false),
            ("@a\0", false),
            ("@\u{feff}a", false),
        ] {
            assert_eq!(UserRef::parse(text).is_some(), is_one, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "+7", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert_eq!(ThreadId::parse(text), None, "{text}");
        }
    }
}
