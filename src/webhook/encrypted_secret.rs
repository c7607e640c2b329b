//! How secrets are kept.

use zeroize::Zeroizing;

use super::{KeyId, Secret};
use crate::host::BoxError;
use crate::model::EndpointId;

/// What a secret begins with when a key has sealed it. No text has its first byte, so that no plain secret begins so.
const SEAL: &[u8] = b"\xffaead1";

/// A secret as it is stored. It prints as its name only, and is zeroed when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Zeroizing<Vec<u8>>);

impl Sealed {
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
    pub(super) fn by_key(parts: &[&[u8]]) -> Self {
        Self::new([&[SEAL], parts].concat().concat())
    }

    /// What a key has made of the secret; `None` when it is stored plain.
    pub(super) fn under_key(&self) -> Option<&[u8]> {
        self.0.strip_prefix(SEAL)
    }
}

opaque_debug!(Sealed);

/// Encrypts secrets before they are stored, and decrypts them.
///
/// An encrypted secret belongs to one endpoint: a copy of it in the row of another endpoint is refused.
pub trait SecretBox: Send + Sync + 'static {
    /// Returns the id of the key. A store records it, so that a process with another key is refused.
    fn key_id(&self) -> KeyId;

    /// Encrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// When the cipher or its source of randomness fails.
    fn seal(&self, secret: &Secret, endpoint: &EndpointId) -> Result<Sealed, BoxError>;

    /// Decrypts the secret of `endpoint`.
    ///
    /// # Errors
    /// When it was encrypted with another key, for another endpoint, or was changed since.
    fn open(&self, sealed: &Sealed, endpoint: &EndpointId) -> Result<Secret, BoxError>;
}

/// Stores secrets in plain text, and refuses encrypted ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl SecretBox for Plain {
    fn key_id(&self) -> KeyId {
        KeyId::plaintext()
    }

    fn seal(&self, secret: &Secret, _: &EndpointId) -> Result<Sealed, BoxError> {
        Ok(Sealed::new(secret.reveal().as_bytes().to_vec()))
    }

    fn open(&self, sealed: &Sealed, _: &EndpointId) -> Result<Secret, BoxError> {
        if sealed.under_key().is_some() {
            return Err("the secret is encrypted, and no key was given".into());
        }
        Ok(Secret::new(std::str::from_utf8(sealed.as_bytes())?)?)
    }
}
