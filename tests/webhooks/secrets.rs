//! What signs deliveries.

use forum_api::model::EndpointId;
use forum_api::runtime::SeededEntropy;
use forum_api::webhook::{Plain, Secret, SecretBox, TooShort};

use crate::sample::{endpoint, secret};

#[test]
fn a_new_one_is_43_random_characters() {
    let entropy = SeededEntropy::new(3);
    let minted: Vec<_> = (0..100).map(|_| Secret::mint(&entropy).unwrap()).collect();
    for secret in &minted {
        let random = secret.reveal().strip_prefix("whsec_").unwrap();
        assert_eq!(random.len(), 43);
        assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let same = minted.iter().filter(|it| it.reveal() == secret.reveal());
        assert_eq!(same.count(), 1);
    }
}

#[test]
fn one_that_is_brought_has_16_characters() {
    for (text, expected) in [
        ("", Some(TooShort)),
        ("123456789012345", Some(TooShort)),
        ("ääääääää", Some(TooShort)),
        ("1234567890123456", None),
        ("ä b ä b ä b ä b ä", None),
    ] {
        assert_eq!(Secret::new(text).err(), expected, "{text}");
    }
    assert_eq!(TooShort.to_string(), "a secret has at least 16 characters");
}

#[test]
fn none_is_printed() {
    let endpoint = endpoint("S");
    let printed = format!("{:?} {endpoint:?}", secret("S"));
    assert!(printed.starts_with("Secret Endpoint"), "{printed}");
    assert!(
        !printed.contains("SSS") && !printed.contains("83, 83"),
        "{printed}"
    );
}

#[test]
fn a_plain_one_is_stored_as_it_is() {
    let id = EndpointId::new("whe_1").unwrap();
    let sealed = Plain.seal(&secret("S"), &id).unwrap();
    assert_eq!(sealed.as_bytes(), secret("S").reveal().as_bytes());
    let opened = Plain.open(&sealed, &id).unwrap();
    assert_eq!(opened.reveal(), secret("S").reveal());
}
