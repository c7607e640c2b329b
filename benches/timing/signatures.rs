//! Signatures: whether time tells where a wrong one is wrong, or which of two secrets made a right one.

use std::cell::Cell;

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

/// So many deliveries there are of each kind.
const DELIVERIES: i64 = 200;

pub fn measure() {
    let [first, second, foreign] = [(); 3].map(|()| Secret::mint(&SystemEntropy).unwrap());
    let [by_first, by_second, by_foreign] = [&first, &second, &foreign].map(signed);
    let digits = "sha256=".len();
    let [start, end] = [digits, digits + 63].map(|place| {
        let wrong = by_first.iter().map(|headers| wrong_at(headers, place));
        wrong.collect::<Vec<_>>()
    });
    let secrets = [first, second];
    for (what, classes, right) in [
        (
            "that is wrong in its first digit and in its last",
            [&start, &end],
            false,
        ),
        (
            "by another secret and wrong in its last digit",
            [&by_foreign, &end],
            false,
        ),
        (
            "by the first of two secrets and by the second",
            [&by_first, &by_second],
            true,
        ),
    ] {
        let now = Timestamp::from_millis(SENT * 1000);
        let check = |headers: HeaderMap| (verify(&secrets, &headers, BODY, now).is_ok(), headers);
        let next = Cell::new(0);
        let delivery = |class: bool| {
            next.set((next.get() + 1) % DELIVERIES as usize);
            copied(&classes[usize::from(class)][next.get()])
        };
        for class in [false, true] {
            assert_eq!(check(delivery(class)).0, right);
        }
        compare(&format!("a signature {what}"), delivery, check);
    }
}

/// Headers of their own: a clone would share its bytes with the kind that it is of, and time would tell that.
fn copied(headers: &HeaderMap) -> HeaderMap {
    let own = |value: &HeaderValue| HeaderValue::from_bytes(value.as_bytes()).unwrap();
    let copies = headers
        .iter()
        .map(|(name, value)| (name.clone(), own(value)));
    copies.collect()
}

/// The headers of deliveries, one a second.
fn signed(secret: &Secret) -> Vec<HeaderMap> {
    (SENT..SENT + DELIVERIES)
        .map(|at| signed_at(secret, at))
        .collect()
}

fn signed_at(secret: &Secret, at: i64) -> HeaderMap {
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).unwrap();
    let mac = mac.chain_update(format!("{at}.")).chain_update(BODY);
    let digits = mac.finalize().into_bytes();
    let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("sha256={digits}");
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("x-forum-event", "thread.created"),
        ("x-forum-delivery", "dlv_1"),
        ("x-forum-timestamp", &at.to_string()),
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
