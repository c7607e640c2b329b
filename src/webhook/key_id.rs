//! Identifier of the key that encrypts webhook secrets.

use std::fmt;

/// The id of the key that encrypts webhook secrets: 1-64 characters of `[A-Za-z0-9_-]`. It is stored beside the secrets,
/// shown to operators, and discloses nothing of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyId(String);

impl KeyId {
    /// Parses an id; `None` unless it is 1-64 characters of `[A-Za-z0-9_-]`.
    pub fn new(text: &str) -> Option<Self> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(is_valid);
        fits.then(|| Self(text.into()))
    }

    /// The id that stands for plain text, without a key: `plaintext`.
    pub fn plaintext() -> Self {
        Self("plaintext".into())
    }

    /// Returns the text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_plaintext(&self) -> bool {
        *self == Self::plaintext()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The webhook secrets in a store are encrypted with another key than the one that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMismatch {
    /// The id that the store has recorded.
    pub stored: KeyId,
    /// The id of the key that was given.
    pub given: KeyId,
}

impl fmt::Display for KeyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stored, given } = self;
        match (stored.is_plaintext(), given.is_plaintext()) {
            (true, _) => write!(
                f,
                "the webhook secrets in this database are stored in plain text, but the key {given} was given"
            ),
            (false, true) => write!(
                f,
                "the webhook secrets in this database are encrypted with the key {stored}, but no key was given"
            ),
            (false, false) => write!(
                f,
                "the webhook secrets in this database are encrypted with the key {stored}, but the key {given} was given"
            ),
        }
    }
}

impl std::error::Error for KeyMismatch {}
