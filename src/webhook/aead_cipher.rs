//! AEAD encryption of webhook secrets with a key outside of the database.

use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use super::{EncryptedSecret, KeyId, SecretCipher, WebhookSecret};
use crate::error::BoxError;
use crate::model::EndpointId;
use crate::runtime::RandomSource;

/// Encrypts secrets with ChaCha20-Poly1305 (feature `webhooks`). The ids of the key and of the endpoint are authenticated
/// with each secret.
///
/// It refuses secrets that are stored in plain text: [`Registry::reencrypt`](crate::webhook_admin::Registry::reencrypt) encrypts those.
/// It prints as its name only.
pub struct AeadCipher {
    id: KeyId,
    key: LessSafeKey,
    entropy: Arc<dyn RandomSource>,
}

const CHANGED: &str =
    "the secret belongs to another endpoint, or was changed since it was encrypted";

/// Separates the hash that gives the key's id from the hash that gives the key.
const ID_CONTEXT: &[u8] = b"forum-api webhook secret key id";

/// The length of a key's id, in hexadecimal digits of the hash.
const ID_DIGITS: usize = 16;

/// A key has at least 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the key must have at least 16 bytes")]
pub struct KeyTooShortError;

impl AeadCipher {
    /// The least bytes that a key has.
    const LEAST: usize = 16;

    /// A box whose key is the SHA-256 of `material`: random bytes, such as those of a key file.
    ///
    /// # Errors
    /// When they are fewer than 16.
    pub fn new(material: &[u8], entropy: Arc<dyn RandomSource>) -> Result<Self, KeyTooShortError> {
        let bits = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(material)));
        let hash = Sha256::new().chain_update(ID_CONTEXT).chain_update(*bits);
        let mut id = base16ct::lower::encode_string(&hash.finalize());
        id.truncate(ID_DIGITS);
        let id = KeyId::new(&id).ok_or(KeyTooShortError)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*bits).ok();
        let key = key.filter(|_| material.len() >= Self::LEAST);
        let key = LessSafeKey::new(key.ok_or(KeyTooShortError)?);
        Ok(Self { id, key, entropy })
    }

    /// The data that is authenticated with a secret: the ids of the key and the endpoint. Neither contains a space.
    fn context(&self, endpoint: &EndpointId) -> Aad<Vec<u8>> {
        Aad::from(format!("{} {endpoint}", self.id).into_bytes())
    }
}

impl SecretCipher for AeadCipher {
    fn key_id(&self) -> KeyId {
        self.id.clone()
    }

    fn encrypt(
        &self,
        secret: &WebhookSecret,
        endpoint: &EndpointId,
    ) -> Result<EncryptedSecret, BoxError> {
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill(&mut nonce)?;
        let mut text = Zeroizing::new(secret.expose_secret().as_bytes().to_vec());
        let unique = Nonce::assume_unique_for_key(nonce);
        let (key, context) = (&self.key, self.context(endpoint));
        let tag = key.seal_in_place_separate_tag(unique, context, &mut text);
        let tag = tag.map_err(|_| "failed to encrypt the secret")?;
        let id = self.id.as_str().as_bytes();
        Ok(EncryptedSecret::from_ciphertext(&[
            id,
            &nonce,
            &text,
            tag.as_ref(),
        ]))
    }

    fn decrypt(
        &self,
        sealed: &EncryptedSecret,
        endpoint: &EndpointId,
    ) -> Result<WebhookSecret, BoxError> {
        let bytes = sealed
            .ciphertext()
            .ok_or("the secret is stored in plain text, but a key was given")?;
        let bytes = bytes.strip_prefix(self.id.as_str().as_bytes());
        let bytes = bytes.ok_or("the secret is encrypted with another key")?;
        let (nonce, text) = bytes.split_first_chunk().ok_or(CHANGED)?;
        let mut text = Zeroizing::new(text.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let context = self.context(endpoint);
        let text = self.key.open_in_place(nonce, context, &mut text);
        let text = text.map_err(|_| CHANGED)?;
        Ok(WebhookSecret::parse(std::str::from_utf8(text)?)?)
    }
}

opaque_debug!(AeadCipher);
