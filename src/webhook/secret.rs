//! What signs deliveries.

use zeroize::Zeroizing;

use crate::base62;
use crate::runtime::{Entropy, NoEntropy};

/// The secret of an endpoint: the bytes of its text are the key of the HMAC. It prints as its name only, and is zeroed
/// when dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

/// A secret has at least 16 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort;

display_error!(TooShort, "a secret has at least 16 characters");

impl Secret {
    /// A new secret: `whsec_` and 256 random bits in 43 characters of `[0-9A-Za-z]`.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn mint(entropy: &dyn Entropy) -> Result<Self, NoEntropy> {
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

opaque_debug!(Secret);
