//! How secrets are kept.

use zeroize::Zeroizing;

use super::Secret;
use crate::host::BoxError;

/// What a secret begins with when a key has sealed it. No text has its first byte, so that no plain secret begins so.
const SEAL: &[u8] = b"\xffsealed1";

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

prints_as_its_name!(Sealed);

/// Seals secrets before they are stored, and opens them again.
pub trait SecretBox: Send + Sync + 'static {
    /// Seals a secret.
    ///
    /// # Errors
    /// When it cannot.
    fn seal(&self, secret: &Secret) -> Result<Sealed, BoxError>;

    /// Opens what was sealed.
    ///
    /// # Errors
    /// When it was not sealed by this box.
    fn open(&self, sealed: &Sealed) -> Result<Secret, BoxError>;
}

/// Keeps secrets as they are, and refuses those that a key has sealed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl SecretBox for Plain {
    fn seal(&self, secret: &Secret) -> Result<Sealed, BoxError> {
        Ok(Sealed::new(secret.reveal().as_bytes().to_vec()))
    }

    fn open(&self, sealed: &Sealed) -> Result<Secret, BoxError> {
        if sealed.under_key().is_some() {
            return Err("the secret is sealed with a key, which is needed to open it".into());
        }
        Ok(Secret::new(std::str::from_utf8(sealed.as_bytes())?)?)
    }
}
