//! Passwords, stored as argon2id hashes. Hashing is slow on purpose and runs on a blocking thread.
//!
//! A password is hashed in the composed form of Unicode (NFC), because keyboards and systems write `é` as one character or as
//! `e` and an accent.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use forum_api::host::{BoardError, OrInternal};
use tokio::task::spawn_blocking;
use unicode_normalization::UnicodeNormalization;

/// Minimum number of characters of a new password.
const MIN_LENGTH: usize = 8;

pub fn check_length(password: &str) -> Result<(), BoardError> {
    if composed(password).chars().count() < MIN_LENGTH {
        let rule = format!("the password must have at least {MIN_LENGTH} characters");
        return Err(BoardError::validation("password", rule));
    }
    Ok(())
}

fn composed(password: &str) -> String {
    password.nfc().collect()
}

/// Hashes a new password of sufficient length, as a PHC string.
pub async fn hash_new(password: String) -> Result<String, BoardError> {
    check_length(&password)?;
    hash(password).await
}

pub async fn hash(password: String) -> Result<String, BoardError> {
    Ok(spawn_blocking(move || {
        let hashed: Result<PasswordHash, _> =
            Argon2::default().hash_password(composed(&password).as_bytes());
        hashed.map(|hash| hash.to_string())
    })
    .await
    .or_internal()?
    .or_internal()?)
}

/// Returns whether the password has this hash.
pub async fn verify(password: String, hash: String) -> Result<bool, BoardError> {
    Ok(spawn_blocking(move || {
        let hash = PasswordHash::new(&hash)?;
        let result = Argon2::default().verify_password(composed(&password).as_bytes(), &hash);
        Ok::<_, argon2::password_hash::phc::Error>(result.is_ok())
    })
    .await
    .or_internal()?
    .or_internal()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_the_same_with_composed_and_separate_accents() {
        let [composed, separate] = ["Käse-é1", "Ka\u{308}se-e\u{301}1"].map(String::from);
        for (new, typed, expected) in [
            (&composed, &separate, true),
            (&separate, &composed, true),
            (&separate, &separate, true),
            (&composed, &"Kase-e1".into(), false),
        ] {
            let stored = hash(new.clone()).await.unwrap();
            assert_eq!(verify(typed.clone(), stored).await.unwrap(), expected);
            assert!(hash_new(new.clone()).await.is_err(), "seven characters");
        }
    }
}
