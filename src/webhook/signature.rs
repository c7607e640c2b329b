//! What a signature is, for who signs and for who verifies (spec, Events).

use hmac::{Hmac, KeyInit as _, Mac as _, digest::InvalidLength};
use sha2::Sha256;

use super::Secret;

/// The header with the event's topic.
pub(super) const EVENT: &str = "x-forum-event";
/// The header with the delivery's id.
pub(super) const DELIVERY: &str = "x-forum-delivery";
/// The header with the Unix time in seconds.
pub(super) const TIMESTAMP: &str = "x-forum-timestamp";
/// The header with the signature.
pub(super) const SIGNATURE: &str = "x-forum-signature";

/// `sha256=` and the HMAC of `<timestamp>.<body>` in small hexadecimal digits. A key may have any length.
pub(super) fn sign(secret: &Secret, timestamp: &str, body: &[u8]) -> Result<String, InvalidLength> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes())?
        .chain_update(timestamp)
        .chain_update(".")
        .chain_update(body);
    let digits = mac.finalize().into_bytes();
    let digits = digits.iter().map(|byte| format!("{byte:02x}"));
    Ok(format!("sha256={}", digits.collect::<String>()))
}
