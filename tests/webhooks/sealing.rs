//! Encryption of webhook secrets, its keys, and the change from one key to another.

use forum_api::Environment;
use forum_api::runtime::Inline;
use std::sync::Arc;

use forum_api::model::{EndpointId, UserId};
use forum_api::runtime::SeededEntropy;
use forum_api::store::Webhooks;
use forum_api::webhook::{Endpoint, KeyBox, KeyId, KeyTooShort, Plain, Sealed, SecretBox};
use forum_api::webhook_admin::{Declined, Registration, Registry};
use proptest::prelude::*;

use crate::sample::secret;
use crate::wire::Names;

const FOREIGN: &str = "the secret is encrypted with another key";
const CHANGED: &str =
    "the secret belongs to another endpoint, or was changed since it was encrypted";

fn key_box(material: &[u8]) -> KeyBox {
    KeyBox::new(material, Arc::new(SeededEntropy::new(5))).unwrap()
}

fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(&format!("whe_{name}")).unwrap()
}

/// Why a box does not decrypt this for the endpoint `a`.
fn refusal(cipher: &dyn SecretBox, sealed: &Sealed) -> String {
    cipher.open(sealed, &endpoint("a")).unwrap_err().to_string()
}

#[test]
fn the_same_key_decrypts_what_it_encrypted() {
    for material in [
        [7; 16].as_slice(),
        &[0; 32],
        "ein Schlüssel aus Text\n".as_bytes(),
        &[1; 4096],
    ] {
        let sealed = key_box(material)
            .seal(&secret("S"), &endpoint("a"))
            .unwrap();
        let opened = key_box(material).open(&sealed, &endpoint("a")).unwrap();
        assert_eq!(opened.reveal(), secret("S").reveal());
    }
}

#[test]
fn an_encrypted_secret_holds_nothing_of_the_secret_and_differs_each_time() {
    let cipher = key_box(&[7; 16]);
    let (one, other) = (
        cipher.seal(&secret("S"), &endpoint("a")).unwrap(),
        cipher.seal(&secret("S"), &endpoint("a")).unwrap(),
    );
    assert_ne!(one, other);
    let secret = secret("S");
    let mut parts = secret.reveal().as_bytes().windows(4);
    assert!(!parts.any(|part| one.as_bytes().windows(4).any(|found| found == part)));
}

#[test]
fn another_key_does_not_decrypt_it() {
    let sealed = key_box(&[7; 16])
        .seal(&secret("S"), &endpoint("a"))
        .unwrap();
    for other in [[8; 16].as_slice(), &[7; 17]] {
        assert_eq!(refusal(&key_box(other), &sealed), FOREIGN);
    }
}

#[test]
fn a_secret_of_another_endpoint_is_refused() {
    let cipher = key_box(&[7; 16]);
    let others = cipher.seal(&secret("S"), &endpoint("b")).unwrap();
    assert_eq!(refusal(&cipher, &others), CHANGED);
}

#[test]
fn without_a_key_an_encrypted_secret_is_refused() {
    let sealed = key_box(&[7; 16])
        .seal(&secret("S"), &endpoint("a"))
        .unwrap();
    let why = "the secret is encrypted, and no key was given";
    assert_eq!(refusal(&Plain, &sealed), why);
}

#[test]
fn with_a_key_plain_text_is_refused() {
    let plain = Plain.seal(&secret("S"), &endpoint("a")).unwrap();
    let why = "the secret is stored in plain text, but a key was given";
    assert_eq!(refusal(&key_box(&[7; 16]), &plain), why);
}

#[test]
fn a_key_has_16_bytes_and_is_not_printed() {
    let entropy = Arc::new(SeededEntropy::new(5));
    for short in [&[] as &[u8], &[7; 15]] {
        assert_eq!(KeyBox::new(short, entropy.clone()).err(), Some(KeyTooShort));
    }
    assert_eq!(KeyTooShort.to_string(), "a key has at least 16 bytes");
    assert_eq!(format!("{:?}", key_box(&[7; 16])), "KeyBox");
}

#[test]
fn the_id_of_a_key_depends_on_the_key_only() {
    let id = key_box(&[7; 16]).key_id();
    assert_eq!(id, key_box(&[7; 16]).key_id());
    assert_ne!(id, key_box(&[7; 17]).key_id());
    assert_eq!(id.as_str().len(), 16);
    assert_eq!(Plain.key_id(), KeyId::plaintext());
    for (text, is_id) in [
        ("", false),
        ("a_Key-02", true),
        ("a b", false),
        ("ü", false),
    ] {
        assert_eq!(KeyId::new(text).is_some(), is_id, "{text}");
    }
    assert!(KeyId::new(&"x".repeat(64)).is_some() && KeyId::new(&"x".repeat(65)).is_none());
}

#[test]
fn one_that_is_cut_off_anywhere_is_not_decrypted() {
    let cipher = key_box(&[7; 16]);
    let sealed = cipher.seal(&secret("S"), &endpoint("a")).unwrap();
    for length in 0..sealed.as_bytes().len() {
        let cut = Sealed::new(sealed.as_bytes()[..length].to_vec());
        assert!(cipher.open(&cut, &endpoint("a")).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn one_that_was_changed_is_not_decrypted(place: prop::sample::Index, change in 1..=255_u8) {
        let cipher = key_box(&[7; 16]);
        let mut bytes = cipher.seal(&secret("S"), &endpoint("a")).unwrap().as_bytes().to_vec();
        *place.get_mut(&mut bytes) ^= change;
        prop_assert!(cipher.open(&Sealed::new(bytes), &endpoint("a")).is_err());
    }
}

/// A registry with this key, or without one.
fn registry(webhooks: &Webhooks, key: Option<&[u8]>) -> Registry {
    let environment = Environment::new(Inline);
    let environment = match key {
        Some(key) => environment.secrets(Arc::new(key_box(key))),
        None => environment,
    };
    Registry::new(webhooks.clone(), environment).resolver(Names::leading_to(&["8.8.8.8"]))
}

async fn register(registry: &Registry, letter: &str) -> Result<EndpointId, Declined> {
    let new = Registration {
        url: "https://receiver.example/hook".into(),
        topics: "*".parse().unwrap(),
        owner: UserId::from(1),
        secret: Some(secret(letter)),
    };
    registry.register(new).await.map(|added| added.endpoint.id)
}

async fn stored(webhooks: &Webhooks, id: &EndpointId) -> Endpoint {
    webhooks.endpoints.find(id).await.unwrap().unwrap()
}

const OLD: Option<&[u8]> = Some(&[7; 16]);
const NEW: Option<&[u8]> = Some(&[8; 16]);

#[tokio::test]
async fn a_registry_with_another_key_is_refused_and_changes_nothing() {
    for (first, second) in [(OLD, NEW), (OLD, None), (None, OLD)] {
        let webhooks = Webhooks::in_memory();
        let before = registry(&webhooks, first);
        let id = register(&before, "A").await.unwrap();
        let recorded = webhooks.endpoints.key_id().await.unwrap();
        let after = registry(&webhooks, second);
        let outcomes = [
            after.check_key().await,
            register(&after, "B").await.map(drop),
            after.rotate(&id).await.map(drop),
        ];
        for outcome in outcomes {
            assert!(matches!(outcome, Err(Declined::Key(_))), "{outcome:?}");
        }
        assert_eq!(webhooks.endpoints.all().await.unwrap().len(), 1);
        assert_eq!(webhooks.endpoints.key_id().await.unwrap(), recorded);
        before.check_key().await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_recorded_before_the_first_endpoint() {
    let webhooks = Webhooks::in_memory();
    registry(&webhooks, OLD).check_key().await.unwrap();
    let added = register(&registry(&webhooks, None), "A").await;
    let Err(Declined::Key(mismatch)) = added else {
        panic!("{added:?}");
    };
    assert_eq!(mismatch.stored, key_box(&[7; 16]).key_id());
    assert_eq!(mismatch.given, KeyId::plaintext());
}

#[tokio::test]
async fn all_secrets_are_encrypted_with_the_new_key() {
    for (former, new) in [(OLD, NEW), (None, NEW)] {
        let webhooks = Webhooks::in_memory();
        let before = registry(&webhooks, former);
        let (one, rotated) = (
            register(&before, "A").await.unwrap(),
            register(&before, "B").await.unwrap(),
        );
        let pending = before.rotate(&rotated).await.unwrap().secret;
        let cipher = key_box(new.unwrap());
        assert_eq!(before.reencrypt(&cipher).await.unwrap(), 2);
        for (id, letter) in [(&one, "A"), (&rotated, "B")] {
            let opened = cipher.open(&stored(&webhooks, id).await.secret, id);
            assert_eq!(opened.unwrap().reveal(), secret(letter).reveal());
        }
        let sealed = stored(&webhooks, &rotated).await.pending.unwrap().secret;
        let opened = cipher.open(&sealed, &rotated).unwrap();
        assert_eq!(opened.reveal(), pending.reveal());
        registry(&webhooks, new).check_key().await.unwrap();
        assert!(before.check_key().await.is_err());
        assert_eq!(
            before.reencrypt(&cipher).await.unwrap(),
            2,
            "it can be repeated"
        );
    }
}

#[tokio::test]
async fn a_wrong_old_key_changes_nothing() {
    let webhooks = Webhooks::in_memory();
    let id = register(&registry(&webhooks, OLD), "A").await.unwrap();
    let before = stored(&webhooks, &id).await;
    for wrong in [None, Some([9; 16].as_slice())] {
        let outcome = registry(&webhooks, wrong)
            .reencrypt(&key_box(&[8; 16]))
            .await;
        assert!(matches!(outcome, Err(Declined::Key(_))), "{outcome:?}");
    }
    assert_eq!(stored(&webhooks, &id).await, before);
    registry(&webhooks, OLD).check_key().await.unwrap();
}

#[tokio::test]
async fn after_a_lost_key_a_store_without_endpoints_takes_a_new_one() {
    let webhooks = Webhooks::in_memory();
    let lost = registry(&webhooks, OLD);
    let id = register(&lost, "A").await.unwrap();
    let without = registry(&webhooks, None);
    assert!(without.reencrypt(&key_box(&[8; 16])).await.is_err());
    without.remove(&id).await.unwrap();
    assert_eq!(without.reencrypt(&key_box(&[8; 16])).await.unwrap(), 0);
    registry(&webhooks, NEW).check_key().await.unwrap();
}
