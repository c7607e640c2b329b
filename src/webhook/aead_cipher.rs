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
/// Decrypting a secret that is stored in plain text fails. Encrypt such secrets first, with
/// [`WebhookAdmin::reencrypt`](crate::webhook_admin::WebhookAdmin::reencrypt). `Debug` does not show the key.
pub struct AeadCipher {
    id: KeyId,
    key: LessSafeKey,
    random: Arc<dyn RandomSource>,
}

const TAMPERED: &str =
    "the secret belongs to another endpoint, or was changed since it was encrypted";

/// Domain separation between the hash for the key's id and the hash for the key.
const ID_CONTEXT: &[u8] = b"forum-api webhook secret key id";

/// Length of a key id in hexadecimal digits.
const ID_DIGITS: usize = 16;

/// The key material has fewer than 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the key must have at least 16 bytes")]
#[non_exhaustive]
pub struct KeyTooShortError;

impl AeadCipher {
    /// Smallest length of the key material in bytes.
    const MIN_LEN: usize = 16;

    /// Creates a cipher whose key is the SHA-256 of `material`: random bytes, for example of a key file.
    ///
    /// # Errors
    /// [`KeyTooShortError`] if `material` has fewer than 16 bytes.
    pub fn new(material: &[u8], random: impl RandomSource) -> Result<Self, KeyTooShortError> {
        let bits = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(material)));
        let hash = Sha256::new().chain_update(ID_CONTEXT).chain_update(*bits);
        let mut id = base16ct::lower::encode_string(&hash.finalize());
        id.truncate(ID_DIGITS);
        let id = KeyId::parse(&id).map_err(|_| KeyTooShortError)?;
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, &*bits)
            .ok()
            .filter(|_| material.len() >= Self::MIN_LEN);
        let key = LessSafeKey::new(unbound.ok_or(KeyTooShortError)?);
        Ok(Self { id, key, random: Arc::new(random) })
    }

    /// Returns the associated data of a secret: the ids of the key and the endpoint. Neither contains a space.
    fn associated_data(&self, endpoint: &EndpointId) -> Aad<Vec<u8>> {
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
        self.random.fill(&mut nonce)?;
        let mut text = Zeroizing::new(secret.expose_secret().as_bytes().to_vec());
        let tag = self
            .key
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                self.associated_data(endpoint),
                &mut text,
            )
            .map_err(|_| "failed to encrypt the secret")?;
        let id = self.id.as_str().as_bytes();
        let parts: [&[u8]; 4] = [id, &nonce, &text, tag.as_ref()];
        Ok(EncryptedSecret::from_ciphertext(&parts))
    }

    fn decrypt(
        &self,
        encrypted: &EncryptedSecret,
        endpoint: &EndpointId,
    ) -> Result<WebhookSecret, BoxError> {
        let bytes = encrypted
            .ciphertext()
            .ok_or("the secret is stored in plain text, but a key was given")?
            .strip_prefix(self.id.as_str().as_bytes())
            .ok_or("the secret is encrypted with another key")?;
        let (nonce, text) = bytes.split_first_chunk().ok_or(TAMPERED)?;
        let mut text = Zeroizing::new(text.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let data = self.associated_data(endpoint);
        let text = self.key.open_in_place(nonce, data, &mut text).map_err(|_| TAMPERED)?;
        Ok(WebhookSecret::parse(std::str::from_utf8(text)?)?)
    }
}

opaque_debug!(AeadCipher);
