//! What is wrong with a part of a request: the matter of a 400 `bad_request`.

use std::borrow::Cow;
use std::fmt;

use serde::de;

/// A field, parameter or header that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Its name; empty while it is not known yet.
    pub(crate) name: String,
    pub(crate) wrong: Wrong,
}

/// Why it cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Something else was expected: an English phrase, which [`Messages`](crate::Messages) translate.
    Expected(Cow<'static, str>),
    Missing,
    Repeated,
    Unknown,
}

impl Complaint {
    pub(crate) fn expected(name: impl Into<String>, phrase: &'static str) -> Self {
        Self {
            name: name.into(),
            wrong: Wrong::Expected(phrase.into()),
        }
    }

    /// The same complaint about something inside of `outer`.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        let dot = if self.name.is_empty() || self.name.starts_with('[') {
            ""
        } else {
            "."
        };
        self.name = format!("{outer}{dot}{}", self.name);
        self
    }

    /// The name if it can be repeated to the client: short, plain, and no secret that stands in the wrong place.
    pub(crate) fn speakable(&self) -> &str {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
        let harmless = (1..=64).contains(&self.name.len()) && self.name.bytes().all(plain);
        let secret = self.name.contains("_pat_") || self.name.contains("whsec_");
        if harmless && !secret { &self.name } else { "?" }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.speakable(), self.wrong)
    }
}

impl std::error::Error for Complaint {}

fn nameless(wrong: Wrong) -> Complaint {
    Complaint {
        name: String::new(),
        wrong,
    }
}

impl de::Error for Complaint {
    fn custom<T: fmt::Display>(phrase: T) -> Self {
        nameless(Wrong::Expected(phrase.to_string().into()))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        nameless(Wrong::Expected(expected.join(", ").into()))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self {
            name: field.into(),
            wrong: Wrong::Unknown,
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            name: field.into(),
            wrong: Wrong::Missing,
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self {
            name: field.into(),
            wrong: Wrong::Repeated,
        }
    }
}
