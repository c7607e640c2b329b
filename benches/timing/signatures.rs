//! Signatures: whether time tells where a wrong one is wrong, or which of two secrets made a right one.

use forum_api::clock::SystemEntropy;
use forum_api::model::Timestamp;
use forum_api::webhook::{Secret, verify};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue};
use sha2::Sha256;

use crate::dudect::compare;

const BODY: &[u8] =
    br#"{"event":"evt_1","topic":"thread.created","occurredAt":"2026-01-01T00:00:00Z","data":{}}"#;
const SENT: i64 = 1_767_225_600;
const SIGNATURE: &str = "x-forum-signature";

pub fn measure() {
    let secrets = [(); 2].map(|()| Secret::mint(&SystemEntropy).unwrap());
    let now = Timestamp::from_millis(SENT * 1000);
    let check = |headers: HeaderMap| (verify(&secrets, &headers, BODY, now).is_ok(), headers);
    let [first, second] = [0, 1].map(|number: usize| signed(&secrets[number]));
    assert!(check(first.clone()).0 && check(second.clone()).0);
    let [start, end] = ["sha256=".len(), "sha256=".len() + 63].map(|place| wrong_at(&first, place));
    assert!(!check(start.clone()).0 && !check(end.clone()).0);
    compare(
        "a signature that is wrong in its first digit and in its last",
        |class| if class { &end } else { &start }.clone(),
        check,
    );
    compare(
        "a signature by the first of two secrets and by the second",
        |class| if class { &second } else { &first }.clone(),
        check,
    );
    let foreign = signed(&Secret::mint(&SystemEntropy).unwrap());
    compare(
        "a signature by another secret and one that is wrong in its last digit",
        |class| if class { &end } else { &foreign }.clone(),
        check,
    );
}

/// The headers of a delivery.
fn signed(secret: &Secret) -> HeaderMap {
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).unwrap();
    let mac = mac.chain_update(format!("{SENT}.")).chain_update(BODY);
    let digits = mac.finalize().into_bytes();
    let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    let sent = SENT.to_string();
    let signature = format!("sha256={digits}");
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("x-forum-event", "thread.created"),
        ("x-forum-delivery", "dlv_1"),
        ("x-forum-timestamp", &sent),
        (SIGNATURE, &signature),
    ] {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// The same headers with another digit at this place of the signature.
fn wrong_at(signed: &HeaderMap, place: usize) -> HeaderMap {
    let mut headers = signed.clone();
    let mut text = headers[SIGNATURE].as_bytes().to_vec();
    text[place] = if text[place] == b'0' { b'1' } else { b'0' };
    headers.insert(SIGNATURE, HeaderValue::from_bytes(&text).unwrap());
    headers
}
