//! Signatures: compares positions of a wrong digit, and the two secrets of a rotation.

use std::cell::Cell;

use forum_api::model::Timestamp;
use forum_api::runtime::OsRandom;
use forum_api::webhook::{WebhookSecret, verify};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue};
use sha2::Sha256;

use crate::dudect::compare;

const SENT: i64 = 1_767_225_600;

/// Index of the wrong digit of a signature.
type Wrong = Option<usize>;

/// A delivery with a unique body.
struct Delivery {
    headers: HeaderMap,
    body: Vec<u8>,
}

pub fn measure() {
    let secrets = [(); 2].map(|()| WebhookSecret::generate(&OsRandom).unwrap());
    let foreign = WebhookSecret::generate(&OsRandom).unwrap();
    let [first, second] = &secrets;
    let now = Timestamp::from_millis(SENT * 1000);
    let check = |delivery: Delivery| {
        let right = verify(&secrets, &delivery.headers, &delivery.body, now).is_ok();
        (right, delivery)
    };
    let events = Cell::new(0);
    let in_first: (&WebhookSecret, Wrong) = (first, Some(0));
    let in_last = (first, Some(63));
    for (what, classes, right) in [
        (
            "that is wrong in its first digit and in its last",
            [in_first, in_last],
            false,
        ),
        (
            "by another secret and wrong in its last digit",
            [(&foreign, None), in_last],
            false,
        ),
        (
            "by the first of two secrets and by the second",
            [(first, None), (second, None)],
            true,
        ),
    ] {
        let delivery = |class: bool| {
            events.set(events.get() + 1);
            let (secret, wrong) = classes[usize::from(class)];
            Delivery::new(events.get(), secret, wrong)
        };
        for class in [false, true] {
            assert_eq!(check(delivery(class)).0, right);
        }
        compare(&format!("a signature {what}"), delivery, check);
    }
}

impl Delivery {
    fn new(event: u64, secret: &WebhookSecret, wrong: Wrong) -> Self {
        let body = format!(r#"{{"event":"evt_{event:010}","topic":"thread.created","data":{{}}}}"#);
        let mut digits = signature(secret, &body).into_bytes();
        if let Some(wrong) = wrong {
            digits[wrong] = if digits[wrong] == b'0' { b'1' } else { b'0' };
        }
        let signature = [b"sha256=", &*digits].concat();
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-forum-event", &b"thread.created"[..]),
            ("x-forum-delivery", b"dlv_1"),
            ("x-forum-timestamp", SENT.to_string().as_bytes()),
            ("x-forum-signature", &signature),
        ] {
            headers.insert(name, HeaderValue::from_bytes(value).unwrap());
        }
        Self {
            headers,
            body: body.into(),
        }
    }
}

fn signature(secret: &WebhookSecret, body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).unwrap();
    let mac = mac.chain_update(format!("{SENT}.{body}")).finalize();
    let digits = mac.into_bytes();
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}
