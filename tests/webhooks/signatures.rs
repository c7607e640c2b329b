//! What a receiver accepts (spec, Receiver rules; contract, section 8).

use forum_api::model::Timestamp;
use forum_api::webhook::{Outgoing, Secret, Topic, Unverified, verify};
use http::HeaderValue;
use proptest::prelude::*;

use crate::sample::{START, after, secret, signed};

const BODY: &str = r#"{"topic":"thread.created","id":1}"#;

const HEADERS: [&str; 4] = [
    "x-forum-event",
    "x-forum-delivery",
    "x-forum-timestamp",
    "x-forum-signature",
];

/// Why it is refused at this time by a receiver with one secret; `None` when it is not.
fn refusal(secret: &Secret, delivery: &Outgoing, now: Timestamp) -> Option<Unverified> {
    verify(
        std::slice::from_ref(secret),
        &delivery.headers,
        &delivery.body,
        now,
    )
    .err()
}

#[test]
fn an_attempt_has_six_headers() {
    let delivery = signed(&secret("B"), BODY);
    let headers = delivery.headers.iter();
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    let agent = format!("forum-api/{}", env!("CARGO_PKG_VERSION"));
    let expected = [
        ("content-type", "application/json"),
        ("user-agent", &agent),
        ("x-forum-delivery", "dlv_1"),
        ("x-forum-event", "thread.created"),
        (
            "x-forum-signature",
            "sha256=6a2c49044018a9dfbcd8864a9cf51b0f70130732d2e8a0193715b93cb3bb8f04",
        ),
        ("x-forum-timestamp", "1700000000"),
    ];
    assert_eq!(headers, expected);
    assert_eq!(
        (delivery.url.as_str(), &*delivery.body),
        ("https://receiver.example/hook", BODY.as_bytes())
    );
}

#[test]
fn what_was_signed_is_verified() {
    let delivery = signed(&secret("B"), BODY);
    let verified = verify(&[secret("B")], &delivery.headers, &delivery.body, after(0)).unwrap();
    assert_eq!(verified.topic, Topic::THREAD_CREATED);
    assert_eq!(verified.delivery.to_string(), "dlv_1");
    assert_eq!(verified.body, BODY.as_bytes());
}

#[test]
fn any_of_several_secrets_will_do() {
    let delivery = signed(&secret("B"), BODY);
    for (letters, fits) in [
        ("B", true),
        ("AB", true),
        ("BA", true),
        ("ABC", true),
        ("AC", false),
        ("", false),
    ] {
        let secrets: Vec<_> = letters.split_terminator("").skip(1).map(secret).collect();
        let verified = verify(&secrets, &delivery.headers, &delivery.body, after(0));
        assert_eq!(
            verified.err(),
            (!fits).then_some(Unverified::Signature),
            "{letters}"
        );
    }
}

#[test]
fn five_minutes_both_ways_and_no_more() {
    let delivery = signed(&secret("B"), BODY);
    for (millis, refused) in [
        (300_000, None),
        (300_001, Some(Unverified::TooOld)),
        (86_400_000, Some(Unverified::TooOld)),
        (-300_000, None),
        (-300_001, Some(Unverified::TooNew)),
        (-86_400_000, Some(Unverified::TooNew)),
    ] {
        assert_eq!(
            refusal(&secret("B"), &delivery, after(millis)),
            refused,
            "{millis}"
        );
    }
}

#[test]
fn a_header_that_is_missing_or_doubled_is_refused() {
    for name in HEADERS {
        let mut delivery = signed(&secret("B"), BODY);
        let value = delivery.headers[name].clone();
        delivery.headers.append(name, value);
        assert_eq!(
            refusal(&secret("B"), &delivery, after(0)),
            Some(Unverified::Header(name))
        );
        delivery.headers.remove(name);
        assert_eq!(
            refusal(&secret("B"), &delivery, after(0)),
            Some(Unverified::Header(name))
        );
    }
}

#[test]
fn a_header_that_is_malformed_is_refused() {
    let [event, delivery_id, timestamp, _] = HEADERS;
    let table = [
        (
            event,
            vec!["", "thread", "thread.created, ping", "Thread.Created"],
        ),
        (delivery_id, vec!["", "a b", "dlv_1,dlv_2"]),
        (
            timestamp,
            vec![
                "",
                "-1",
                "+1700000000",
                "1700000000.0",
                "17e8",
                " 1700000000",
                "9223372036854775807",
                "99999999999999999999",
                "١",
            ],
        ),
    ];
    for (name, values) in table {
        for value in values {
            let mut delivery = signed(&secret("B"), BODY);
            delivery
                .headers
                .insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            assert_eq!(
                refusal(&secret("B"), &delivery, after(0)),
                Some(Unverified::Header(name)),
                "{value}"
            );
        }
    }
}

#[test]
fn any_other_signature_is_refused() {
    let good = signed(&secret("B"), BODY).headers["x-forum-signature"]
        .to_str()
        .unwrap()
        .to_owned();
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
        "sha256=".to_owned() + &"0".repeat(64),
    ] {
        let mut delivery = signed(&secret("B"), BODY);
        delivery
            .headers
            .insert("x-forum-signature", other.parse().unwrap());
        assert_eq!(
            refusal(&secret("B"), &delivery, after(0)),
            Some(Unverified::Signature),
            "{other}"
        );
    }
}

#[test]
fn the_time_is_signed() {
    let mut delivery = signed(&secret("B"), BODY);
    delivery
        .headers
        .insert("x-forum-timestamp", (START + 1).into());
    assert_eq!(
        refusal(&secret("B"), &delivery, after(0)),
        Some(Unverified::Signature)
    );
}

#[test]
fn a_refusal_says_which_check_failed_and_nothing_else() {
    for (refused, text) in [
        (
            Unverified::Header("x-forum-event"),
            "the header x-forum-event is missing, doubled or malformed",
        ),
        (Unverified::Signature, "no secret gives this signature"),
        (
            Unverified::TooOld,
            "it was signed more than five minutes ago",
        ),
        (
            Unverified::TooNew,
            "it says to be signed more than five minutes from now",
        ),
    ] {
        assert_eq!(refused.to_string(), text);
    }
}

/// A header of any visible characters and blanks.
fn header() -> impl Strategy<Value = HeaderValue> {
    let bytes = prop::collection::vec(b' '..=b'~', 0..80);
    bytes.prop_map(|bytes| HeaderValue::from_bytes(&bytes).unwrap())
}

proptest! {
    #[test]
    fn a_body_of_which_one_byte_is_changed_is_refused(
        body in ".{1,80}", place: prop::sample::Index, change in 1..=255_u8,
    ) {
        let mut delivery = signed(&secret("B"), &body);
        prop_assert_eq!(refusal(&secret("B"), &delivery, after(0)), None);
        let mut changed = delivery.body.to_vec();
        *place.get_mut(&mut changed) ^= change;
        delivery.body = changed.into();
        prop_assert_eq!(refusal(&secret("B"), &delivery, after(0)), Some(Unverified::Signature));
    }

    #[test]
    fn whatever_headers_say_nothing_unsigned_is_verified(
        others in prop::collection::vec((0..HEADERS.len(), header()), 1..6),
    ) {
        let original = signed(&secret("B"), BODY);
        let mut delivery = original.clone();
        for (place, value) in others {
            delivery.headers.insert(HEADERS[place], value);
        }
        let is_signed = HEADERS[2..].iter().all(|name| delivery.headers[*name] == original.headers[*name]);
        prop_assert!(is_signed || refusal(&secret("B"), &delivery, after(0)).is_some());
    }
}
