//! Secrets that sign deliveries, their encryption in a store, and the id of the key.

use std::fmt;

use thiserror::Error;
use zeroize::Zeroizing;

use crate::base62;
use crate::error::BoxError;
use crate::model::EndpointId;
use crate::runtime::{RandomError, RandomSource};

/// The secret of an endpoint: the bytes of its text are the key of the HMAC. It prints as its name only, and is zeroed
/// when dropped.
#[derive(Clone)]
pub struct WebhookSecret(Zeroizing<String>);

/// A secret has at least 16 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the secret must have at least 16 characters")]
pub struct SecretTooShortError;

impl WebhookSecret {
    /// A new secret: `whsec_` and 256 random bits in 43 characters of `[0-9A-Za-z]`.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn generate(entropy: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bits = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bits)?;
        let characters = Zeroizing::new(base62::encode::<43, _>(*bits));
        let mut text = Zeroizing::new(String::with_capacity(49));
        text.push_str("whsec_");
        text.extend(characters.iter().map(|byte| char::from(*byte)));
        Ok(Self(text))
    }

    /// The secret that somebody brings.
    ///
    /// # Errors
    /// When it has fewer than 16 characters.
    pub fn parse(text: &str) -> Result<Self, SecretTooShortError> {
        let long = text.chars().nth(15).is_some();
        long.then(|| Self(Zeroizing::new(text.into())))
            .ok_or(SecretTooShortError)
    }

    /// Its text.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }
}

opaque_debug!(WebhookSecret);

/// What a secret begins with when a key has sealed it. No text has its first byte, so that no plain secret begins so.
const SEAL: &[u8] = b"\xffaead1";

/// A secret as it is stored. It prints as its name only, and is zeroed when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedSecret(Zeroizing<Vec<u8>>);

impl EncryptedSecret {
    /// From the bytes that are stored.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes to store: any bytes, and no text in general.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What a key has made of a secret, to be stored so that it says so.
    #[cfg(feature = "webhooks")]
    pub(super) fn from_ciphertext(parts: &[&[u8]]) -> Self {
        Self::new([&[SEAL], parts].concat().concat())
    }

    /// What a key has made of the secret; `None` when it is stored plain.
    pub(super) fn ciphertext(&self) -> Option<&[u8]> {
        self.0.strip_prefix(SEAL)
    }
}

opaque_debug!(EncryptedSecret);

/// Encrypts secrets before they are stored, and decrypts them.
///
/// An encrypted secret belongs to one endpoint: a copy of it in the row of another endpoint is refused.
pub trait SecretCipher: Send + Sync + 'static {
    /// Returns the id of the key. A store records it, so that a process with another key is refused.
    fn key_id(&self) -> KeyId;

    /// Encrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// When the cipher or its source of randomness fails.
    fn encrypt(
        &self,
        secret: &WebhookSecret,
        endpoint: &EndpointId,
    ) -> Result<EncryptedSecret, BoxError>;

    /// Decrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// When it was encrypted with another key, for another endpoint, or was changed since.
    fn decrypt(
        &self,
        sealed: &EncryptedSecret,
        endpoint: &EndpointId,
    ) -> Result<WebhookSecret, BoxError>;
}

/// Stores secrets in plain text, and refuses encrypted ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaintextCipher;

impl SecretCipher for PlaintextCipher {
    fn key_id(&self) -> KeyId {
        KeyId::plaintext()
    }

    fn encrypt(&self, secret: &WebhookSecret, _: &EndpointId) -> Result<EncryptedSecret, BoxError> {
        Ok(EncryptedSecret::new(
            secret.expose_secret().as_bytes().to_vec(),
        ))
    }

    fn decrypt(&self, sealed: &EncryptedSecret, _: &EndpointId) -> Result<WebhookSecret, BoxError> {
        if sealed.ciphertext().is_some() {
            return Err("the secret is encrypted, but no key was given".into());
        }
        Ok(WebhookSecret::parse(std::str::from_utf8(
            sealed.as_bytes(),
        )?)?)
    }
}

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

    /// The id of plain text, without a key: `plaintext`.
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
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the webhook secrets in this database are {}, but {} was given",
    if stored.is_plaintext() { "stored in plain text".into() } else { format!("encrypted with the key {stored}") },
    if given.is_plaintext() { "no key".into() } else { format!("the key {given}") },
)]
pub struct KeyMismatch {
    /// The id that the store has recorded.
    pub stored: KeyId,
    /// The id of the key that was given.
    pub given: KeyId,
}
