//! What is wrong with a part of a request: the reason of a 400 `bad_request`.

use std::borrow::Cow;
use std::fmt::Display;

use serde::de::{self, Unexpected};
use thiserror::Error;

use crate::model::Expected;

/// A field, parameter or header that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {kind:?}", self.safe_name())]
pub(crate) struct InputError {
    /// Its name; empty while it is not known yet.
    pub(crate) name: String,
    pub(crate) kind: InputErrorKind,
}

/// Why it cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputErrorKind {
    Expected(Expected),
    /// One of these words was expected.
    OneOf(&'static [&'static str]),
    /// Something else was expected, in the words of the host.
    Phrase(Cow<'static, str>),
    Missing,
    Repeated,
    Unknown,
}

impl InputError {
    pub(crate) fn new(name: impl Into<String>, kind: InputErrorKind) -> Self {
        let name = name.into();
        Self { name, kind }
    }

    pub(crate) fn expected(name: impl Into<String>, expected: Expected) -> Self {
        Self::new(name, InputErrorKind::Expected(expected))
    }

    /// With a phrase of the host's.
    pub(crate) fn phrase(name: &str, phrase: &'static str) -> Self {
        Self::new(name, InputErrorKind::Phrase(phrase.into()))
    }

    /// The same error in a value inside of the field `outer`.
    pub(crate) fn in_field(mut self, outer: &str) -> Self {
        let is_path = self.name.is_empty() || self.name.starts_with('[');
        let dot = if is_path { "" } else { "." };
        self.name = format!("{outer}{dot}{}", self.name);
        self
    }

    /// The name if it can be repeated to the client: short, plain, and not a secret in the wrong place.
    pub(crate) fn safe_name(&self) -> &str {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
        let is_short = (1..=64).contains(&self.name.len());
        let is_secret = self.name.contains("_pat_") || self.name.contains("whsec_");
        if is_short && self.name.bytes().all(is_plain) && !is_secret {
            &self.name
        } else {
            "?"
        }
    }
}

impl de::Error for InputError {
    fn custom<T: Display>(phrase: T) -> Self {
        Self::new("", InputErrorKind::Phrase(phrase.to_string().into()))
    }

    fn invalid_value(unexpected: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        match Expected::from_error(unexpected) {
            Some(expected) => Self::expected("", expected),
            None => Self::custom(wanted),
        }
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new("", InputErrorKind::OneOf(expected))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::new(field, InputErrorKind::Unknown)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(field, InputErrorKind::Missing)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(field, InputErrorKind::Repeated)
    }
}
