//! [`InputError`]: the cause of a 400 `bad_request` ([protocol](crate::guide::protocol), section 5.4).

use std::borrow::Cow;
use std::fmt::Display;

use serde::de::{self, Unexpected};
use thiserror::Error;

pub(crate) type InputResult<T> = Result<T, InputError>;

/// An invalid field, parameter or header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {kind:?}", self.safe_name().unwrap_or("?"))]
pub(crate) struct InputError {
    /// Name of the field; empty until the deserializer adds it.
    pub(crate) name: String,
    pub(crate) kind: InputErrorKind,
    /// Name of the reason for programs.
    pub(crate) reason: Option<Cow<'static, str>>,
}

/// Reason of an [`InputError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputErrorKind {
    /// English phrase for the expected value, from the library, the host or a deserializer.
    Expected(Cow<'static, str>),
    /// Expected one of these words.
    OneOf(&'static [&'static str]),
    Missing,
    Repeated,
    Unknown,
}

impl InputError {
    pub(crate) fn new(name: impl Into<String>, kind: InputErrorKind) -> Self {
        Self { name: name.into(), kind, reason: None }
    }

    pub(crate) fn expected(name: impl Into<String>, phrase: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, InputErrorKind::Expected(phrase.into()))
    }

    /// Prepends the name of the field that contains the value.
    pub(crate) fn in_field(mut self, outer: &str) -> Self {
        let is_path = self.name.is_empty() || self.name.starts_with('[');
        let dot = if is_path { "" } else { "." };
        self.name = format!("{outer}{dot}{}", self.name);
        self
    }

    /// Returns the name; `None` if the response must not contain the name: if it is empty or longer than 64 characters,
    /// contains markup or unprintable characters, or looks like a secret.
    pub(crate) fn safe_name(&self) -> Option<&str> {
        let is_plain = |letter: char| letter.is_alphanumeric() || "_-.[]$@:/ ".contains(letter);
        let is_short = (1..=64).contains(&self.name.chars().count());
        let is_secret = self.name.contains("_pat_") || self.name.contains("whsec_");
        let is_safe = is_short && self.name.chars().all(is_plain) && !is_secret;
        is_safe.then_some(&self.name)
    }
}

impl de::Error for InputError {
    fn custom<T: Display>(phrase: T) -> Self {
        Self::expected("", phrase.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(expected)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(expected)
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Self::custom(expected)
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
