//! Secrets that a key seals.

use std::sync::Arc;

use forum_api::clock::SeededEntropy;
use forum_api::webhook::{KeyBox, KeyTooShort, Plain, Sealed, SecretBox};
use proptest::prelude::*;

use crate::sample::secret;

const FOREIGN: &str = "the secret was sealed with another key, or changed since";

fn key_box(material: &[u8]) -> KeyBox {
    KeyBox::new(material, Arc::new(SeededEntropy::new(5))).unwrap()
}

/// Why a box does not open this.
fn refusal(kept: &dyn SecretBox, sealed: &Sealed) -> String {
    kept.open(sealed).unwrap_err().to_string()
}

#[test]
fn the_same_key_opens_what_it_sealed() {
    for material in [
        [7; 16].as_slice(),
        &[0; 32],
        "ein Schlüssel aus Text\n".as_bytes(),
        &[1; 4096],
    ] {
        let sealed = key_box(material).seal(&secret("S")).unwrap();
        let opened = key_box(material).open(&sealed).unwrap();
        assert_eq!(opened.reveal(), secret("S").reveal());
    }
}

#[test]
fn what_is_sealed_holds_nothing_of_the_secret_and_is_another_each_time() {
    let kept = key_box(&[7; 16]);
    let (one, other) = (
        kept.seal(&secret("S")).unwrap(),
        kept.seal(&secret("S")).unwrap(),
    );
    assert_ne!(one, other);
    let secret = secret("S");
    let mut parts = secret.reveal().as_bytes().windows(4);
    assert!(!parts.any(|part| one.as_bytes().windows(4).any(|found| found == part)));
}

#[test]
fn another_key_does_not_open_it() {
    let sealed = key_box(&[7; 16]).seal(&secret("S")).unwrap();
    for other in [[8; 16].as_slice(), &[7; 17]] {
        assert_eq!(refusal(&key_box(other), &sealed), FOREIGN);
    }
}

#[test]
fn without_a_key_it_is_taken_for_no_secret() {
    let sealed = key_box(&[7; 16]).seal(&secret("S")).unwrap();
    assert_eq!(
        refusal(&Plain, &sealed),
        "the secret is sealed with a key, which is needed to open it"
    );
}

#[test]
fn what_was_stored_plain_before_is_opened_too() {
    let plain = Plain.seal(&secret("S")).unwrap();
    let opened = key_box(&[7; 16]).open(&plain).unwrap();
    assert_eq!(opened.reveal(), secret("S").reveal());
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
fn one_that_is_cut_off_anywhere_is_not_opened() {
    let kept = key_box(&[7; 16]);
    let sealed = kept.seal(&secret("S")).unwrap();
    for length in 0..sealed.as_bytes().len() {
        let cut = Sealed::new(sealed.as_bytes()[..length].to_vec());
        assert!(kept.open(&cut).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn one_that_was_changed_is_not_opened(place: prop::sample::Index, change in 1..=255_u8) {
        let kept = key_box(&[7; 16]);
        let mut bytes = kept.seal(&secret("S")).unwrap().as_bytes().to_vec();
        *place.get_mut(&mut bytes) ^= change;
        prop_assert!(kept.open(&Sealed::new(bytes)).is_err());
    }
}
