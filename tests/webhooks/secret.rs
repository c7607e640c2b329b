//! Webhook secrets: generation, rotation and encryption; ids of webhooks.

use std::collections::HashSet;

use forum_api::model::{DeliveryId, EndpointId, EventId};
use forum_api::runtime::{RandomError, RandomSource, SeededRandom};
use forum_api::webhook::{
    AeadCipher, EncryptedSecret, Endpoint, KeyId, PlaintextCipher, SecretCipher, WebhookSecret,
};
use proptest::prelude::*;

use crate::sample::{after, endpoint, secret};

#[derive(Debug)]
struct FailingRandom;

impl RandomSource for FailingRandom {
    fn fill(&self, _: &mut [u8]) -> Result<(), RandomError> {
        Err(RandomError::new("no entropy"))
    }
}

fn has_format(id: &str, prefix: &str, length: usize) -> bool {
    id.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[test]
fn secrets_are_random() {
    let random = SeededRandom::new(1);
    let secret = |_| WebhookSecret::generate(&random).unwrap().expose_secret().to_owned();
    let generated: HashSet<String> = (0..100).map(secret).collect();
    assert_eq!(generated.len(), 100);
    assert!(generated.iter().all(|text| has_format(text, "whsec_", 43)));
    assert!(WebhookSecret::generate(&FailingRandom).is_err());
}

fn delivery_id(event: &str, endpoint: &str) -> String {
    let event = EventId::parse(event);
    let endpoint = EndpointId::parse(endpoint);
    DeliveryId::derive(&event.unwrap(), &endpoint.unwrap()).to_string()
}

proptest! {
    #[test]
    fn a_delivery_id_is_a_function_of_event_and_endpoint(
        one in ("[a-z_]{1,3}", "[a-z_]{1,3}"), other in ("[a-z_]{1,3}", "[a-z_]{1,3}"),
    ) {
        prop_assert_eq!(delivery_id("evt_1", "whe_1"), "dlv_5jGmSOqVqDse6Qyu7ViPwf");
        let id = delivery_id(&one.0, &one.1);
        prop_assert!(has_format(&id, "dlv_", 22));
        prop_assert_eq!(id == delivery_id(&other.0, &other.1), one == other);
    }
}

#[test]
fn a_secret_has_at_least_16_characters() {
    for (text, is_valid) in [
        ("", false),
        ("123456789012345", false),
        ("ääääääää", false),
        ("1234567890123456", true),
        ("ä b ä b ä b ä b ä", true),
    ] {
        assert_eq!(WebhookSecret::parse(text).is_ok(), is_valid, "{text}");
    }
}

#[test]
fn debug_output_contains_no_secret_and_no_key() {
    let printed = format!("{:?} {:?}", secret("S"), endpoint("S"));
    assert!(printed.starts_with("WebhookSecret Endpoint"), "{printed}");
    let is_hidden = !printed.contains("SSS") && !printed.contains("83, 83");
    assert!(is_hidden, "{printed}");
    assert_eq!(format!("{:?}", cipher(&[7; 16])), "AeadCipher");
}

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Rotates to the secret of this letter, this number of milliseconds after the start.
fn rotated(endpoint: Endpoint, letter: &str, millis: i64) -> Endpoint {
    let encrypted = PlaintextCipher.encrypt(&secret(letter), &endpoint.id);
    endpoint.rotated(encrypted.unwrap(), after(millis))
}

#[test]
fn a_rotated_secret_is_active_after_its_activation_or_a_day() {
    let pending = rotated(endpoint("A"), "B", 0);
    let active = pending.clone().activated(after(5)).unwrap();
    assert_eq!(active.pending_secret, None);
    let replaced = rotated(pending.clone(), "C", DAY - 1);
    let next = rotated(pending.clone(), "C", DAY);
    for (endpoint, millis, letter) in [
        (&pending, 5, "A"),
        (&active, 5, "B"),
        (&pending, DAY - 1, "A"),
        // The clock was ahead when the secret was rotated.
        (&pending, -60_000, "A"),
        (&pending, -60_001, "B"),
        (&pending, DAY, "B"),
        (&pending, 9 * DAY, "B"),
        (&replaced, DAY, "A"),
        (&replaced, 2 * DAY - 2, "A"),
        (&replaced, 2 * DAY - 1, "C"),
        (&replaced.clone().activated(after(DAY)).unwrap(), DAY, "C"),
        (&next, DAY, "B"),
        (&next, 2 * DAY, "C"),
    ] {
        let encrypted = endpoint.secret_at(after(millis));
        let active = PlaintextCipher.decrypt(encrypted, &endpoint.id).unwrap();
        assert_eq!(&active.expose_secret()[6..7], letter, "{millis}");
    }
    for result in [
        endpoint("A").activated(after(0)),
        pending.activated(after(DAY)),
        active.activated(after(6)),
    ] {
        assert!(result.is_none());
    }
}

pub(crate) fn cipher(material: &[u8]) -> AeadCipher {
    AeadCipher::new(material, SeededRandom::new(5)).unwrap()
}

fn id(name: &str) -> EndpointId {
    EndpointId::parse(&format!("whe_{name}")).unwrap()
}

#[test]
fn a_secret_is_decrypted_only_with_its_key_and_for_its_endpoint() {
    let foreign = "the secret is encrypted with another key";
    let changed = "the secret belongs to another endpoint, or was changed since it was encrypted";
    let text = "ein Schlüssel aus Text\n".as_bytes();
    let plain: &dyn SecretCipher = &PlaintextCipher;
    let key = cipher(&[7; 16]);
    let no_key = "the secret is encrypted, but no key was given";
    let no_encryption = "the secret is stored in plain text, but a key was given";
    for (encrypts, decrypts, endpoint, expected) in [
        (plain, plain, "a", None),
        (&key, &cipher(&[7; 16]), "a", None),
        (&cipher(text), &cipher(text), "a", None),
        (&cipher(&[1; 4096]), &cipher(&[1; 4096]), "a", None),
        (&key, &cipher(&[8; 16]), "a", Some(foreign)),
        (&key, &cipher(&[7; 17]), "a", Some(foreign)),
        (&key, &key, "b", Some(changed)),
        (&key, plain, "a", Some(no_key)),
        (plain, &key, "a", Some(no_encryption)),
    ] {
        let encrypted = encrypts.encrypt(&secret("S"), &id("a")).unwrap();
        let decrypted = decrypts
            .decrypt(&encrypted, &id(endpoint))
            .map(|secret| secret.expose_secret().to_owned())
            .map_err(|error| error.to_string());
        let expected = expected
            .map_or_else(|| Ok(secret("S").expose_secret().into()), |error| Err(error.to_owned()));
        assert_eq!(decrypted, expected);
    }
    let stored = PlaintextCipher.encrypt(&secret("S"), &id("a")).unwrap();
    assert_eq!(stored.as_bytes(), secret("S").expose_secret().as_bytes());
}

#[test]
fn a_ciphertext_contains_no_part_of_the_secret_and_differs_each_time() {
    let cipher = cipher(&[7; 16]);
    let secret = secret("S");
    let encrypted = cipher.encrypt(&secret, &id("a")).unwrap();
    assert_ne!(encrypted, cipher.encrypt(&secret, &id("a")).unwrap());
    let mut parts = secret.expose_secret().as_bytes().windows(4);
    let bytes = encrypted.as_bytes();
    assert!(!parts.any(|part| bytes.windows(4).any(|window| window == part)));
    for length in 0..bytes.len() {
        let cut = EncryptedSecret::new(bytes[..length].to_vec());
        assert!(cipher.decrypt(&cut, &id("a")).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn a_changed_ciphertext_is_not_decrypted(index: prop::sample::Index, change in 1..=255_u8) {
        let cipher = cipher(&[7; 16]);
        let mut bytes = cipher.encrypt(&secret("S"), &id("a")).unwrap().as_bytes().to_vec();
        *index.get_mut(&mut bytes) ^= change;
        prop_assert!(cipher.decrypt(&EncryptedSecret::new(bytes), &id("a")).is_err());
    }
}

#[test]
fn a_key_has_at_least_16_bytes_and_an_id() {
    for short in [&[] as &[u8], &[7; 15]] {
        assert!(AeadCipher::new(short, SeededRandom::new(5)).is_err());
    }
    let id = cipher(&[7; 16]).key_id();
    assert_eq!(id, cipher(&[7; 16]).key_id());
    assert_ne!(id, cipher(&[7; 17]).key_id());
    assert_eq!(id.as_str().len(), 16);
    assert_eq!(PlaintextCipher.key_id(), KeyId::plaintext());
    let longest = "x".repeat(64);
    let longer = "x".repeat(65);
    for (text, is_id) in [
        ("", false),
        ("a_Key-02", true),
        ("a b", false),
        ("ü", false),
        (&longest, true),
        (&longer, false),
    ] {
        assert_eq!(KeyId::parse(text).is_ok(), is_id, "{text}");
    }
}
