//! Webhook secrets, their encryption in a store, and key ids.

use thiserror::Error;
use zeroize::Zeroizing;

use crate::base62::{self, DIGITS_OF_256_BITS};
use crate::error::{BoxError, ParseError, impl_as_str, impl_from_str};
use crate::model::{EndpointId, check_id};
use crate::runtime::{RandomError, RandomSource};

/// Prefix of generated secrets.
const PREFIX: &str = "whsec_";

/// Minimum length of a secret, in characters.
const MIN_LENGTH: usize = 16;

/// Secret of an endpoint. The bytes of its text are the HMAC key that signs deliveries. `Debug` does not show it, and
/// its memory is zeroed on drop.
#[derive(Clone)]
pub struct WebhookSecret(Zeroizing<String>);

/// The secret has fewer than 16 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the secret must have at least 16 characters")]
#[non_exhaustive]
pub struct SecretTooShortError;

impl WebhookSecret {
    /// Generates a secret: `whsec_` and 256 random bits in 43 characters of `[0-9A-Za-z]`.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bits = Zeroizing::new([0; 32]);
        random.fill(&mut *bits)?;
        let characters = Zeroizing::new(base62::encode::<DIGITS_OF_256_BITS, _>(*bits));
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + DIGITS_OF_256_BITS));
        text.push_str(PREFIX);
        text.extend(characters.iter().map(|byte| char::from(*byte)));
        Ok(Self(text))
    }

    /// Creates a secret from a text that an operator supplies.
    ///
    /// # Errors
    /// [`SecretTooShortError`] if it has fewer than 16 characters.
    pub fn parse(text: &str) -> Result<Self, SecretTooShortError> {
        let is_long_enough = text.chars().nth(MIN_LENGTH - 1).is_some();
        if is_long_enough {
            Ok(Self(Zeroizing::new(text.into())))
        } else {
            Err(SecretTooShortError)
        }
    }

    /// Returns the text.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }
}

opaque_debug!(WebhookSecret);

/// Prefix of encrypted secrets. Its first byte does not occur in UTF-8, so no plaintext secret has this prefix.
const CIPHERTEXT_PREFIX: &[u8] = b"\xffaead1";

/// A secret in its stored form: encrypted, or in plain text with [`PlaintextCipher`]. `Debug` does not show it, and its
/// memory is zeroed on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedSecret(Zeroizing<Vec<u8>>);

impl EncryptedSecret {
    /// Wraps stored bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns the bytes to store. They are not UTF-8 in general.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Concatenates the parts of a ciphertext behind the prefix that marks it as encrypted.
    #[cfg(feature = "webhooks")]
    pub(super) fn from_ciphertext(parts: &[&[u8]]) -> Self {
        Self::new([&[CIPHERTEXT_PREFIX], parts].concat().concat())
    }

    /// Returns the ciphertext; `None` if the secret is stored in plain text.
    pub(super) fn ciphertext(&self) -> Option<&[u8]> {
        self.0.strip_prefix(CIPHERTEXT_PREFIX)
    }
}

opaque_debug!(EncryptedSecret);

/// Encrypts and decrypts webhook secrets in the store.
///
/// An encrypted secret is bound to one endpoint: decrypting a copy of it for another endpoint fails.
pub trait SecretCipher: Send + Sync + 'static {
    /// Returns the id of the key. The store records it, and `WebhookAdmin::check_key` rejects another key.
    fn key_id(&self) -> KeyId;

    /// Encrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// Fails when the cipher or its random source fails.
    fn encrypt(
        &self,
        secret: &WebhookSecret,
        endpoint: &EndpointId,
    ) -> Result<EncryptedSecret, BoxError>;

    /// Decrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// Fails if the secret was encrypted with another key or for another endpoint, or was modified since.
    fn decrypt(
        &self,
        encrypted: &EncryptedSecret,
        endpoint: &EndpointId,
    ) -> Result<WebhookSecret, BoxError>;
}

impl_for_pointers!(SecretCipher {
    fn key_id() -> KeyId;
    fn encrypt(secret: &WebhookSecret, endpoint: &EndpointId) -> Result<EncryptedSecret, BoxError>;
    fn decrypt(encrypted: &EncryptedSecret, endpoint: &EndpointId) -> Result<WebhookSecret, BoxError>;
});

/// Stores secrets in plain text. Decrypting an encrypted secret fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaintextCipher;

impl SecretCipher for PlaintextCipher {
    fn key_id(&self) -> KeyId {
        KeyId::plaintext()
    }

    fn encrypt(&self, secret: &WebhookSecret, _: &EndpointId) -> Result<EncryptedSecret, BoxError> {
        Ok(EncryptedSecret::new(secret.expose_secret().as_bytes().to_vec()))
    }

    fn decrypt(
        &self,
        encrypted: &EncryptedSecret,
        _: &EndpointId,
    ) -> Result<WebhookSecret, BoxError> {
        if encrypted.ciphertext().is_some() {
            return Err("the secret is encrypted, but no key was given".into());
        }
        Ok(WebhookSecret::parse(std::str::from_utf8(encrypted.as_bytes())?)?)
    }
}

/// Id of the key that encrypts webhook secrets: 1 to 64 characters of `[A-Za-z0-9_-]`. It is stored with the secrets, is
/// shown to operators, and does not reveal the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyId(String);

impl KeyId {
    /// Parses an id.
    ///
    /// # Errors
    /// [`ParseError`] unless the text is 1 to 64 characters of `[A-Za-z0-9_-]`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        check_id(text)?;
        Ok(Self(text.into()))
    }

    /// Returns the id that denotes storage in plain text: `plaintext`.
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

impl_from_str!(KeyId);
impl_as_str!(KeyId);

/// The store contains webhook secrets that were encrypted with a different key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the webhook secrets in this database are {}, but {} was given",
    if stored.is_plaintext() { "stored in plain text".into() } else { format!("encrypted with the key {stored}") },
    if given.is_plaintext() { "no key".into() } else { format!("the key {given}") },
)]
#[non_exhaustive]
pub struct KeyMismatchError {
    /// The key id that the store has recorded.
    pub stored: KeyId,
    /// The id of the key that was given.
    pub given: KeyId,
}

impl KeyMismatchError {
    /// Creates an error with the key id that the store has recorded and the id of the key that was given.
    pub fn new(stored: KeyId, given: KeyId) -> Self {
        Self { stored, given }
    }
}
