//! Signatures of deliveries, and their verification by a receiver (`docs/protocol.md`, section 13.7).

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _, digest::InvalidLength};
use http::HeaderMap;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};
use thiserror::Error;

use super::{Topic, WebhookSecret};
use crate::model::{DeliveryId, Timestamp};

/// The header with the event's topic.
pub(crate) const EVENT: &str = "x-forum-event";
/// The header with the delivery's id.
pub(crate) const DELIVERY: &str = "x-forum-delivery";
/// The header with the Unix time in seconds.
pub(crate) const TIMESTAMP: &str = "x-forum-timestamp";
/// The header with the signature.
pub(crate) const SIGNATURE: &str = "x-forum-signature";

/// `sha256=` and the HMAC of `<timestamp>.<body>` in small hexadecimal digits. A key may have any length.
pub(super) fn sign(
    secret: &WebhookSecret,
    timestamp: &str,
    body: &[u8],
) -> Result<String, InvalidLength> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())?
        .chain_update(timestamp)
        .chain_update(".")
        .chain_update(body);
    let digits = base16ct::lower::encode_string(&mac.finalize().into_bytes());
    Ok(format!("sha256={digits}"))
}

/// How far a delivery's time may be from the receiver's, both ways.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// A delivery that holds what somebody with the secret signed.
///
/// The signature covers the time and the body alone. The body repeats the topic and names the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified<'a> {
    /// What it is about.
    pub topic: Topic,
    /// Its id, the same on every attempt: who has seen it has this delivery already.
    pub delivery: DeliveryId,
    /// The body, byte for byte: `{"event":…,"topic":…,"occurredAt":…,"data":…}`.
    pub body: &'a [u8],
}

/// Why a delivery is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The header of this name is missing, doubled or malformed.
    #[error("the header {0} is missing, repeated or malformed")]
    InvalidHeader(&'static str),
    /// None of the secrets gives its signature.
    #[error("the signature matches none of the secrets")]
    SignatureMismatch,
    /// It was signed more than five minutes ago.
    #[error("the timestamp is more than five minutes old")]
    TooOld,
    /// It says to be signed more than five minutes from now.
    #[error("the timestamp is more than five minutes in the future")]
    TooNew,
}

/// Checks a delivery: its headers, its signature by one of `secrets`, and its age at `now`, of five minutes at most.
///
/// `body` is the request's, byte for byte and before anything was parsed. While a secret is rotated, give the old
/// one and the new one ([example](crate::guide::webhooks)).
///
/// # Errors
/// [`VerifyError`]: answer 401, and have nothing to do with it.
pub fn verify<'a>(
    secrets: &[WebhookSecret],
    headers: &HeaderMap,
    body: &'a [u8],
    now: Timestamp,
) -> Result<Verified<'a>, VerifyError> {
    let topic = read(headers, EVENT, Topic::parse)?;
    let delivery = read(headers, DELIVERY, DeliveryId::parse)?;
    let (timestamp, sent_at) = read(headers, TIMESTAMP, |text| Some((text, unix(text)?)))?;
    let signature = read(headers, SIGNATURE, Some)?;
    if !is_by_one_of(secrets, timestamp, body, signature) {
        return Err(VerifyError::SignatureMismatch);
    }
    if now.saturating_duration_since(sent_at) > TOLERANCE {
        return Err(VerifyError::TooOld);
    }
    if sent_at.saturating_duration_since(now) > TOLERANCE {
        return Err(VerifyError::TooNew);
    }
    Ok(Verified {
        topic,
        delivery,
        body,
    })
}

/// What the one header of this name says.
fn read<'a, T>(
    headers: &'a HeaderMap,
    name: &'static str,
    parse: impl FnOnce(&'a str) -> Option<T>,
) -> Result<T, VerifyError> {
    let mut values = headers.get_all(name).iter();
    let only = values.next().filter(|_| values.next().is_none());
    only.and_then(|value| parse(value.to_str().ok()?))
        .ok_or(VerifyError::InvalidHeader(name))
}

/// A Unix time in seconds, in digits alone.
fn unix(text: &str) -> Option<Timestamp> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse::<i64>().ok().filter(|_| digits)?;
    seconds.checked_mul(1000).map(Timestamp::from_millis)
}

/// Compares with every secret, in a time that does not depend on which it is, nor on where a signature is wrong.
fn is_by_one_of(secrets: &[WebhookSecret], timestamp: &str, body: &[u8], signature: &str) -> bool {
    let matches = |secret| {
        let expected = sign(secret, timestamp, body);
        expected.map_or(Choice::from(0), |it| {
            it.as_bytes().ct_eq(signature.as_bytes())
        })
    };
    let all = secrets.iter().map(matches);
    all.fold(Choice::from(0), |found, matches| found | matches)
        .into()
}
