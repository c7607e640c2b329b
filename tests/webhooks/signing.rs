//! Signatures and their verification (`docs/protocol.md`, sections 13.6, 13.7 and 13.17).

use forum_api::model::{DeliveryId, Timestamp};
use forum_api::webhook::{SignedRequest, Topic, VerifyError, WebhookSecret, verify};
use forum_api::{ApiSettings, Environment, openapi_document};
use http::HeaderValue;

use crate::sample::{START, after, endpoint, event, secret, signed};

/// The stored body of the event.
const STORED: &str = r#"{"topic":"thread.created","id":1}"#;

const BODY: &str = r#"{"delivery":"dlv_1","topic":"thread.created","id":1}"#;

const HEADERS: [&str; 4] =
    ["x-forum-event", "x-forum-delivery", "x-forum-timestamp", "x-forum-signature"];

/// Verifies a delivery with secret B at this time.
fn check(delivery: &SignedRequest, now: Timestamp) -> Result<(), VerifyError> {
    verify(&[secret("B")], &delivery.headers, &delivery.body, now).map(drop)
}

#[test]
fn a_signed_request_has_six_headers_and_is_verified() {
    let delivery = signed(&secret("B"), STORED);
    let mut headers: Vec<_> = delivery
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    let agent = format!("forum-api/{}", env!("CARGO_PKG_VERSION"));
    let signature = "sha256=e2a8680e0b4de4a55ffaf0fd732ece60346c696715bb78342bcf3813beb6065b";
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

#[test]
fn a_body_that_is_not_an_object_with_fields_is_not_signed() {
    for body in ["", "{}", "[]", "text"] {
        let id = DeliveryId::parse("dlv_1").unwrap();
        let signed = SignedRequest::sign(&endpoint("A"), &id, &event(body), &secret("A"), after(0));
        let expected =
            "not sent: the request could not be signed: the body of the event is not a JSON object";
        assert_eq!(signed.unwrap_err().to_string(), expected, "{body}");
    }
}

/// Signatures that Python's `hmac` computed, with keys shorter than, equal to and longer than a block of the hash, and with
/// non-ASCII keys.
#[test]
#[rustfmt::skip]
fn a_signature_is_the_hmac_of_time_and_body() {
    let text = r#"{"a":"Grüße, 世界 🌍"}"#;
    for (key, body, digits) in [
        ("1234567890123456", r#"{"a":1}"#, "2e6e7cea63d2a60cade8057f0228740fdf0d9053b899d6d8860461103689813c"),
        ("1234567890123456", text, "b25e873a150fd72bb20feb0cca0beb6663eb52c3a104fa158980f2fe2458d346"),
        (&"k".repeat(64), text, "bb59e05d1611eaa500df15e7c20e39fb8ce0f62fb33713f485990e402d2fe78e"),
        (&"k".repeat(65), text, "28c4e9ad3029c98f4fb21600bf820ea7d0bfe97ac80a12d767b91ecfe2973b5f"),
        (&"ключ🔑".repeat(30), text, "a1f6cdaa1ac71a05fbbdcc774b1d1913f3545e10b52b659791993fe34c0741f9"),
    ] {
        let delivery = signed(&WebhookSecret::parse(key).unwrap(), body);
        assert_eq!(delivery.headers["x-forum-signature"], format!("sha256={digits}"), "{key}");
    }
}

#[test]
fn any_of_several_secrets_verifies() {
    let delivery = signed(&secret("B"), STORED);
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
    let delivery = signed(&secret("B"), STORED);
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
        let mut delivery = signed(&secret("B"), STORED);
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
            let mut delivery = signed(&secret("B"), STORED);
            let bytes = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            delivery.headers.insert(name, bytes);
            let result = check(&delivery, after(0));
            assert_eq!(result, Err(VerifyError::InvalidHeader(name)), "{value}");
        }
    }
}

#[test]
fn another_signature_or_timestamp_is_rejected() {
    let delivery = signed(&secret("B"), STORED);
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
fn headers_that_differ_from_the_signed_body_are_rejected() {
    for (name, value) in [("x-forum-delivery", "dlv_2"), ("x-forum-event", "thread.deleted")] {
        let mut replayed = signed(&secret("B"), STORED);
        replayed.headers.insert(name, HeaderValue::from_static(value));
        assert_eq!(check(&replayed, after(0)), Err(VerifyError::HeaderMismatch(name)));
    }
    let without_topic = signed(&secret("B"), r#"{"event":"evt_1"}"#);
    assert_eq!(check(&without_topic, after(0)), Err(VerifyError::InvalidBody));
}

/// The example in the document's description of webhooks.
#[test]
fn the_example_of_the_document_is_verified() {
    let document = openapi_document(&ApiSettings::default(), &Environment::default());
    let tags = document["tags"].as_array().unwrap();
    let tag = tags.iter().find(|tag| tag["name"] == "webhooks").unwrap();
    let text = tag["description"].as_str().unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap().trim()
    };
    let body = value("body");
    let fields: serde_json::Value = serde_json::from_str(body).unwrap();
    let names = [
        ("x-forum-event", fields["topic"].as_str().unwrap()),
        ("x-forum-delivery", fields["delivery"].as_str().unwrap()),
        ("x-forum-timestamp", value("timestamp")),
        ("x-forum-signature", value("signature")),
    ];
    let header = |(name, value): (&str, &str)| (name.parse().unwrap(), value.parse().unwrap());
    let secret = WebhookSecret::parse(value("secret")).unwrap();
    let seconds: i64 = value("timestamp").parse().unwrap();
    let now = Timestamp::from_millis(seconds * 1000);
    let headers = names.map(header).into_iter().collect();
    let verified = verify(&[secret], &headers, body.as_bytes(), now);
    assert_eq!(verified.unwrap().topic, Topic::PING);
}

#[test]
fn a_body_with_a_changed_byte_is_rejected() {
    let delivery = signed(&secret("B"), STORED);
    for place in 0..BODY.len() {
        let mut body = BODY.as_bytes().to_vec();
        body[place] ^= 1;
        let mut changed = delivery.clone();
        changed.body = body.into();
        let result = check(&changed, after(0));
        assert_eq!(result, Err(VerifyError::SignatureMismatch), "{place}");
    }
}
