//! What the forms of one session carry, and those of no other (contract, section 10).

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::base62;
use crate::host::Session;

/// The name of the field.
pub(super) const FIELD: &str = "csrf";

/// What is signed with the session's secret: no other use of the secret signs the same.
const PURPOSE: &[u8] = b"forum-api panel form";

/// What every form of this session carries. It follows from the session's secret, so every node knows it.
pub(super) fn token(session: &Session) -> String {
    // A key of any length is taken, so there is always one.
    let mac = Hmac::<Sha256>::new_from_slice(&session.secret);
    let digest = mac.map(|mac| mac.chain_update(PURPOSE).finalize().into_bytes().into());
    let digits = base62::encode::<43, 32>(digest.unwrap_or_default());
    digits.map(char::from).iter().collect()
}

/// Whether a form that carries `found` is one of this session's.
pub(super) fn is_right(session: &Session, found: &str) -> bool {
    !session.secret.is_empty() && token(session).as_bytes().ct_eq(found.as_bytes()).into()
}
