//! Passwords: kept as argon2id hashes, which are slow to make on purpose, so that happens off the executor.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use forum_api::host::Refusal;
use tokio::task::spawn_blocking;

/// The hash of a password, as a PHC string.
pub async fn hash(password: String) -> Result<String, Refusal> {
    let hash = spawn_blocking(move || {
        let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
        hash.map(|hash| hash.to_string())
    });
    hash.await
        .map_err(Refusal::failed)?
        .map_err(Refusal::failed)
}

/// Whether this is the password that was hashed.
pub async fn is_right(password: String, hash: String) -> Result<bool, Refusal> {
    let right = spawn_blocking(move || {
        let hash = PasswordHash::new(&hash)?;
        let verdict = Argon2::default().verify_password(password.as_bytes(), &hash);
        Ok::<_, argon2::password_hash::phc::Error>(verdict.is_ok())
    });
    right
        .await
        .map_err(Refusal::failed)?
        .map_err(Refusal::failed)
}
