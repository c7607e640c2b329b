//! Secrets sealed with a key that is kept elsewhere than they are.

use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{Plain, Sealed, Secret, SecretBox};
use crate::clock::Entropy;
use crate::host::BoxError;

/// Seals secrets with a key, by ChaCha20-Poly1305 (feature `webhooks`).
///
/// It also opens what [`Plain`] stored, so that sealing can be turned on later. It prints as its name only.
pub struct KeyBox {
    key: LessSafeKey,
    entropy: Arc<dyn Entropy>,
}

const FOREIGN: &str = "the secret was sealed with another key, or changed since";

/// A key has at least 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTooShort;

one_sentence!(KeyTooShort, "a key has at least 16 bytes");

impl KeyBox {
    /// The least bytes that a key has.
    const LEAST: usize = 16;

    /// A box whose key is the SHA-256 of `material`: random bytes, such as those of a key file.
    ///
    /// # Errors
    /// When they are fewer than 16.
    pub fn new(material: &[u8], entropy: Arc<dyn Entropy>) -> Result<Self, KeyTooShort> {
        let bits = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(material)));
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*bits).ok();
        let key = key.filter(|_| material.len() >= Self::LEAST);
        let key = LessSafeKey::new(key.ok_or(KeyTooShort)?);
        Ok(Self { key, entropy })
    }
}

impl SecretBox for KeyBox {
    fn seal(&self, secret: &Secret) -> Result<Sealed, BoxError> {
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill(&mut nonce)?;
        let mut text = Zeroizing::new(secret.reveal().as_bytes().to_vec());
        let unique = Nonce::assume_unique_for_key(nonce);
        let key = &self.key;
        let tag = key.seal_in_place_separate_tag(unique, Aad::empty(), &mut text);
        let tag = tag.map_err(|_| "the secret cannot be sealed")?;
        Ok(Sealed::by_key(&[&nonce, &text, tag.as_ref()]))
    }

    fn open(&self, sealed: &Sealed) -> Result<Secret, BoxError> {
        let Some(bytes) = sealed.under_key() else {
            return Plain.open(sealed);
        };
        let (nonce, text) = bytes.split_first_chunk().ok_or(FOREIGN)?;
        let mut text = Zeroizing::new(text.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let text = self.key.open_in_place(nonce, Aad::empty(), &mut text);
        let text = text.map_err(|_| FOREIGN)?;
        Ok(Secret::new(std::str::from_utf8(text)?)?)
    }
}

prints_as_its_name!(KeyBox);
