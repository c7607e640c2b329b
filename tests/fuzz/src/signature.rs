//! Deliveries: accepted if and only if the signature is the HMAC of time and body, and the time is at most five minutes
//! off.

use forum_api::model::{DeliveryId, Timestamp};
use forum_api::webhook::{Topic, VerifyError, WebhookSecret, verify};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue};
use sha2::Sha256;

use crate::{split_at_mark, text};

const SECRET: &str = "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
const NOW: i64 = 1_700_000_000;

/// A time, a topic, a delivery id and a signature on a line each, and a body.
struct Delivery<'a> {
    time: &'a [u8],
    topic: &'a [u8],
    delivery: &'a [u8],
    signature: &'a [u8],
    body: &'a [u8],
}

pub(super) fn check_property(data: &[u8]) {
    let (time, rest) = split_at_mark(data, b'\n');
    let (topic, rest) = split_at_mark(rest, b'\n');
    let (delivery, rest) = split_at_mark(rest, b'\n');
    let (signature, body) = split_at_mark(rest, b'\n');
    let delivery = Delivery {
        time,
        topic,
        delivery,
        signature,
        body,
    };
    assert!(
        delivery.is_accepted(delivery.signature) != Some(true) || delivery.signed() == signature
    );
    let signed = delivery.signed();
    assert_eq!(
        delivery.is_accepted(&signed).unwrap_or(false),
        delivery.is_valid()
    );
    let index = body.len() % signed.len();
    let mut forged = signed;
    forged[index] ^= 1;
    assert_ne!(delivery.is_accepted(&forged), Some(true));
}

impl Delivery<'_> {
    /// Computes the signature independently.
    fn signed(&self) -> Vec<u8> {
        let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        let mac = mac
            .chain_update(self.time)
            .chain_update(".")
            .chain_update(self.body);
        let bytes = mac.finalize().into_bytes();
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        format!("sha256={}", digits.collect::<String>()).into()
    }

    /// Returns `None` if HTTP cannot transport the headers.
    fn is_accepted(&self, signature: &[u8]) -> Option<bool> {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-forum-event", self.topic),
            ("x-forum-delivery", self.delivery),
            ("x-forum-timestamp", self.time),
            ("x-forum-signature", signature),
        ] {
            headers.insert(name, HeaderValue::from_bytes(value).ok()?);
        }
        let secrets = [WebhookSecret::parse(SECRET).unwrap()];
        let verified = verify(
            &secrets,
            &headers,
            self.body,
            Timestamp::from_millis(NOW * 1000),
        );
        if let Ok(verified) = &verified {
            assert_eq!(verified.body, self.body);
            assert_eq!(verified.topic.as_str().as_bytes(), self.topic);
            assert_eq!(verified.delivery_id.to_string().as_bytes(), self.delivery);
        }
        let named = |name: &str| headers.contains_key(name);
        assert!(!matches!(verified, Err(VerifyError::InvalidHeader(name)) if !named(name)));
        Some(verified.is_ok())
    }

    /// Returns whether all parts but the signature are valid.
    fn is_valid(&self) -> bool {
        let seconds = text(self.time).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let seconds = seconds.and_then(|text| text.parse::<i64>().ok());
        seconds.is_some_and(|seconds| (NOW - 300..=NOW + 300).contains(&seconds))
            && text(self.topic).is_some_and(|topic| Topic::parse(topic).is_ok())
            && text(self.delivery).is_some_and(|id| DeliveryId::parse(id).is_ok())
    }
}
