//! Signatures and their verification (`docs/protocol.md`, sections 13.6, 13.7 and 13.17).

use forum_api::model::Timestamp;
use forum_api::webhook::{SignedRequest, Topic, VerifyError, WebhookSecret, verify};
use http::HeaderValue;

use crate::sample::{START, after, secret, signed};

const BODY: &str = r#"{"topic":"thread.created","id":1}"#;

const HEADERS: [&str; 4] =
    ["x-forum-event", "x-forum-delivery", "x-forum-timestamp", "x-forum-signature"];

/// Verifies a delivery with secret B at this time.
fn check(delivery: &SignedRequest, now: Timestamp) -> Result<(), VerifyError> {
    verify(&[secret("B")], &delivery.headers, &delivery.body, now).map(drop)
}

#[test]
fn a_signed_request_has_six_headers_and_is_verified() {
    let delivery = signed(&secret("B"), BODY);
    let mut headers: Vec<_> = delivery
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    let agent = format!("forum-api/{}", env!("CARGO_PKG_VERSION"));
    let signature = "sha256=6a2c49044018a9dfbcd8864a9cf51b0f70130732d2e8a0193715b93cb3bb8f04";
    let expected = [
        ("content-type", "application/json"),
        ("user-agent", &agent),
        ("x-forum-delivery", "dlv_1"),
        ("x-forum-event", "thread.created"),
        ("x-forum-signature", signature),
        ("x-forum-timestamp", "1700000000"),
    ];
    assert_eq!(headers, expected);
    assert_eq!(delivery.url, "https://receiver.example/hook");
    let verified = verify(&[secret("B")], &delivery.headers, &delivery.body, after(0)).unwrap();
    assert_eq!(verified.topic, Topic::THREAD_CREATED);
    assert_eq!(verified.delivery_id.to_string(), "dlv_1");
    assert_eq!(verified.body, BODY.as_bytes());
}

/// Signatures that Python's `hmac` computed, with keys shorter than, equal to and longer than a block of the hash, and with
/// non-ASCII keys.
#[test]
#[rustfmt::skip]
fn a_signature_is_the_hmac_of_time_and_body() {
    let text = "Grüße, 世界 🌍\n";
    for (key, body, digits) in [
        ("1234567890123456", "", "6fae9095953a8df08d494821ec38af3d53c2899df2c00018462b4f4df421cd61"),
        ("1234567890123456", text, "c0010029e0c1b9eecbe3daab0a9b1b9b0cc1635652c07e7d409b156dd9246953"),
        (&"k".repeat(64), text, "8d45ea5e1bcc0fc3079b5949a68b56f657a562490b5e012b97806fc951d3cc16"),
        (&"k".repeat(65), text, "1a82673e51792863a21e475b9a69f6c1f6e5c91aed14703da506ce3e29944e92"),
        (&"ключ🔑".repeat(30), text, "7bcff2e2ca4ea0fa18701bea506f3a1b241e7c98499b6a3200750161e88462ea"),
    ] {
        let delivery = signed(&WebhookSecret::parse(key).unwrap(), body);
        assert_eq!(delivery.headers["x-forum-signature"], format!("sha256={digits}"), "{key}");
    }
}

#[test]
fn any_of_several_secrets_verifies() {
    let delivery = signed(&secret("B"), BODY);
    for (letters, is_verified) in
        [("B", true), ("AB", true), ("BA", true), ("ABC", true), ("AC", false), ("", false)]
    {
        let secrets: Vec<_> = letters.split_terminator("").skip(1).map(secret).collect();
        let error = verify(&secrets, &delivery.headers, &delivery.body, after(0)).err();
        let expected = (!is_verified).then_some(VerifyError::SignatureMismatch);
        assert_eq!(error, expected, "{letters}");
    }
}

#[test]
fn a_timestamp_differs_by_at_most_five_minutes() {
    let delivery = signed(&secret("B"), BODY);
    for (millis, expected) in [
        (300_000, Ok(())),
        (300_001, Err(VerifyError::TooOld)),
        (86_400_000, Err(VerifyError::TooOld)),
        (-300_000, Ok(())),
        (-300_001, Err(VerifyError::TooNew)),
        (-86_400_000, Err(VerifyError::TooNew)),
    ] {
        assert_eq!(check(&delivery, after(millis)), expected, "{millis}");
    }
}

#[test]
fn a_missing_repeated_or_malformed_header_is_rejected() {
    for name in HEADERS {
        let mut delivery = signed(&secret("B"), BODY);
        let value = delivery.headers[name].clone();
        delivery.headers.append(name, value);
        let invalid = Err(VerifyError::InvalidHeader(name));
        assert_eq!(check(&delivery, after(0)), invalid);
        delivery.headers.remove(name);
        assert_eq!(check(&delivery, after(0)), invalid);
    }
    #[rustfmt::skip]
    let malformed: [&[&str]; 3] = [
        &["", "thread", "thread.created, ping", "Thread.Created"],
        &["", "a b", "dlv_1,dlv_2"],
        &["", "-1", "+1700000000", "1700000000.0", "17e8", " 1700000000", "9223372036854775807", "99999999999999999999", "١"],
    ];
    for (name, values) in HEADERS.into_iter().zip(malformed) {
        for value in values {
            let mut delivery = signed(&secret("B"), BODY);
            let bytes = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            delivery.headers.insert(name, bytes);
            let result = check(&delivery, after(0));
            assert_eq!(result, Err(VerifyError::InvalidHeader(name)), "{value}");
        }
    }
}

#[test]
fn another_signature_or_timestamp_is_rejected() {
    let delivery = signed(&secret("B"), BODY);
    let good = delivery.headers["x-forum-signature"].to_str().unwrap();
    let digits = good.strip_prefix("sha256=").unwrap();
    for other in [
        String::new(),
        "sha256=".into(),
        digits.into(),
        format!("sha1={digits}"),
        format!("sha256={}", digits.to_uppercase()),
        format!("{good}0"),
        good[..good.len() - 1].into(),
        good.replace('6', "7"),
        format!("sha256={}", "0".repeat(64)),
    ] {
        let mut forged = delivery.clone();
        let headers = &mut forged.headers;
        headers.insert("x-forum-signature", other.parse().unwrap());
        let result = check(&forged, after(0));
        assert_eq!(result, Err(VerifyError::SignatureMismatch), "{other}");
    }
    let mut later = delivery.clone();
    let headers = &mut later.headers;
    headers.insert("x-forum-timestamp", (START + 1).into());
    assert_eq!(check(&later, after(0)), Err(VerifyError::SignatureMismatch));
}

#[test]
fn a_body_with_a_changed_byte_is_rejected() {
    let delivery = signed(&secret("B"), BODY);
    for place in 0..BODY.len() {
        let mut body = BODY.as_bytes().to_vec();
        body[place] ^= 1;
        let mut changed = delivery.clone();
        changed.body = body.into();
        let result = check(&changed, after(0));
        assert_eq!(result, Err(VerifyError::SignatureMismatch), "{place}");
    }
}
