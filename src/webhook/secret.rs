//! What signs deliveries, and how it is kept.

use std::fmt;

use zeroize::Zeroizing;

use crate::base62;
use crate::clock::{Entropy, NoEntropy};
use crate::host::BoxError;

/// The secret of an endpoint: the bytes of its text are the key of the HMAC. It prints as its name only.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

/// A secret has at least 16 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort;

impl Secret {
    /// A new secret: `whsec_` and 43 characters.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn mint(entropy: &dyn Entropy) -> Result<Self, NoEntropy> {
        let mut bits = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bits)?;
        let characters = Zeroizing::new(base62::number::<43>(&*bits));
        let mut text = Zeroizing::new(String::with_capacity(49));
        text.push_str("whsec_");
        text.extend(characters.iter().map(|byte| char::from(*byte)));
        Ok(Self(text))
    }

    /// The secret that somebody brings.
    ///
    /// # Errors
    /// When it has fewer than 16 characters.
    pub fn new(text: &str) -> Result<Self, TooShort> {
        let long = text.chars().nth(15).is_some();
        long.then(|| Self(Zeroizing::new(text.into())))
            .ok_or(TooShort)
    }

    /// Its text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A secret as it is stored. It prints as its name only.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Zeroizing<Vec<u8>>);

impl Sealed {
    /// From the bytes that are stored.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed")
    }
}

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

/// Keeps secrets as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl SecretBox for Plain {
    fn seal(&self, secret: &Secret) -> Result<Sealed, BoxError> {
        Ok(Sealed::new(secret.reveal().as_bytes().to_vec()))
    }

    fn open(&self, sealed: &Sealed) -> Result<Secret, BoxError> {
        let text = std::str::from_utf8(sealed.as_bytes())?;
        Ok(Secret(Zeroizing::new(text.into())))
    }
}
