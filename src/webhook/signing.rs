//! Signatures of deliveries, and their verification by a receiver ([protocol](crate::guide::protocol), sections 13.6,
//! 13.7 and 13.17).

use std::borrow::Cow;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _, digest::InvalidLength};
use http::HeaderMap;
use serde::Deserialize;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};
use thiserror::Error;

use super::{Topic, WebhookSecret};
use crate::model::{DeliveryId, Timestamp};

/// Header of the event's topic.
pub(crate) const EVENT: &str = "x-forum-event";
/// Header of the delivery's id.
pub(crate) const DELIVERY: &str = "x-forum-delivery";
/// Header of the time of the attempt: Unix time in seconds.
pub(crate) const TIMESTAMP: &str = "x-forum-timestamp";
/// Header of the signature.
pub(crate) const SIGNATURE: &str = "x-forum-signature";

/// Returns `sha256=` and the HMAC of `<timestamp>.<body>` in lower-case hexadecimal digits.
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

/// Largest difference between a delivery's timestamp and the receiver's clock, in either direction.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// A delivery with a valid signature.
///
/// The signature covers the header `x-forum-timestamp` and the body. The topic and the id of the delivery are those of the
/// signed body, and the headers are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified<'a> {
    /// Topic of the event.
    pub topic: Topic,
    /// Id of the delivery, the same for each attempt. Receivers use it to recognise repeats.
    pub delivery_id: DeliveryId,
    /// The unchanged body: `{"delivery":…,"event":…,"topic":…,"occurredAt":…,"requestId":…,"data":…}`.
    pub body: &'a [u8],
}

/// Error of [`verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The header of this name is missing, repeated or malformed.
    #[error("the header {0} is missing, repeated or malformed")]
    InvalidHeader(&'static str),
    /// The signature matches none of the secrets.
    #[error("the signature matches none of the secrets")]
    SignatureMismatch,
    /// The signed body is not a JSON object with the texts `delivery` and `topic`.
    #[error("the body has no id of the delivery or no topic")]
    InvalidBody,
    /// The header of this name differs from the signed body.
    #[error("the header {0} differs from the body")]
    HeaderMismatch(&'static str),
    /// The timestamp is more than five minutes in the past.
    #[error("the timestamp is more than five minutes old")]
    TooOld,
    /// The timestamp is more than five minutes in the future.
    #[error("the timestamp is more than five minutes in the future")]
    TooNew,
}

/// Verifies a delivery: its signature with one of `secrets`, its timestamp, which may differ from `now` by at most five
/// minutes, and its headers, whose topic and id of the delivery are those of the body.
///
/// `body` is the raw body of the request. While a secret is rotated, pass the old and the new secret
/// ([example](crate::guide::webhooks)).
///
/// # Errors
/// Each [`VerifyError`] means that the request must be rejected, for example with 401.
///
/// # Examples
/// ```
/// use forum_api::model::Timestamp;
/// use forum_api::webhook::{WebhookSecret, verify};
/// use http::HeaderMap;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let secret = WebhookSecret::parse("whsec_0123456789abcdef0123456789abcdef")?;
/// let body = br#"{"delivery":"dlv_1","event":"evt_1","topic":"ping","occurredAt":"2026-01-31T12:00:00.000Z","data":{}}"#;
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forum-event", "ping".parse()?);
/// headers.insert("x-forum-delivery", "dlv_1".parse()?);
/// headers.insert("x-forum-timestamp", "1769860800".parse()?);
/// let signature = "sha256=5ab22150abb445672013698d865a472681c1286d7413c25e29e2e54a1e92596a";
/// headers.insert("x-forum-signature", signature.parse()?);
///
/// let now = Timestamp::from_millis(1_769_860_801_000);
/// let delivery = verify(&[secret], &headers, body, now)?;
/// assert_eq!((delivery.topic.as_str(), delivery.body), ("ping", body.as_slice()));
/// # Ok(())
/// # }
/// ```
pub fn verify<'a>(
    secrets: &[WebhookSecret],
    headers: &HeaderMap,
    body: &'a [u8],
    now: Timestamp,
) -> Result<Verified<'a>, VerifyError> {
    let topic = read(headers, EVENT, |text| Topic::parse(text).ok())?;
    let delivery_id = read(headers, DELIVERY, |text| DeliveryId::parse(text).ok())?;
    let (timestamp, sent_at) =
        read(headers, TIMESTAMP, |text| Some((text, parse_unix_time(text)?)))?;
    let signature = read(headers, SIGNATURE, Some)?;
    if !is_signed_by_any(secrets, timestamp, body, signature) {
        return Err(VerifyError::SignatureMismatch);
    }
    if now.saturating_duration_since(sent_at) > TOLERANCE {
        return Err(VerifyError::TooOld);
    }
    if sent_at.saturating_duration_since(now) > TOLERANCE {
        return Err(VerifyError::TooNew);
    }
    let signed: SignedNames<'_> =
        serde_json::from_slice(body).map_err(|_| VerifyError::InvalidBody)?;
    if DeliveryId::parse(&signed.delivery).as_ref() != Ok(&delivery_id) {
        return Err(VerifyError::HeaderMismatch(DELIVERY));
    }
    if signed.topic != topic.as_str() {
        return Err(VerifyError::HeaderMismatch(EVENT));
    }
    Ok(Verified { topic, delivery_id, body })
}

/// The fields of the body that are headers, too.
#[derive(Deserialize)]
struct SignedNames<'a> {
    #[serde(borrow)]
    delivery: Cow<'a, str>,
    #[serde(borrow)]
    topic: Cow<'a, str>,
}

/// Parses the header `name`, which must occur exactly once.
fn read<'a, T>(
    headers: &'a HeaderMap,
    name: &'static str,
    parse: impl FnOnce(&'a str) -> Option<T>,
) -> Result<T, VerifyError> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none());
    value.and_then(|value| parse(value.to_str().ok()?)).ok_or(VerifyError::InvalidHeader(name))
}

/// Parses a Unix time in seconds. Accepts only digits.
fn parse_unix_time(text: &str) -> Option<Timestamp> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse::<i64>().ok().filter(|_| digits)?;
    seconds.checked_mul(1000).map(Timestamp::from_millis)
}

/// Compares the signature with those of all secrets in constant time.
fn is_signed_by_any(
    secrets: &[WebhookSecret],
    timestamp: &str,
    body: &[u8],
    signature: &str,
) -> bool {
    let matches = |secret| {
        let expected = sign(secret, timestamp, body);
        expected.map_or(Choice::from(0), |expected| expected.as_bytes().ct_eq(signature.as_bytes()))
    };
    let results = secrets.iter().map(matches);
    results.fold(Choice::from(0), |any, result| any | result).into()
}
