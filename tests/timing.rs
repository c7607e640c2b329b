//! The time of a comparison with a secret does not depend on the difference: two classes of inputs, timed in random order,
//! are compared with Welch's t-test. A comparison that ends early shows that the test finds a difference.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;

use forum_api::model::Timestamp;
use forum_api::runtime::OsRandom;
use forum_api::token::{PlainToken, SecretDigest};
use forum_api::webhook::{WebhookSecret, verify};
use forum_test_support::random::Random;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;

const SAMPLES: usize = 100_000;

/// Number of comparisons of the same digests in a sample, because one takes as long as reading the clock.
const REPEATS: usize = 100;

/// |t| above which two classes differ: chance exceeds it in 7 of a million tests.
const THRESHOLD: f64 = 4.5;

const SENT: i64 = 1_767_225_600;

/// Returns |t| of the times of `work` on inputs of two classes, without the slowest tenth of all samples.
fn compare<T, R>(make: impl Fn(usize) -> T, work: impl Fn(&T) -> R) -> f64 {
    let mut random = Random::new(0);
    let mut samples: Vec<(usize, f64)> = Vec::new();
    for _ in 0..SAMPLES {
        let class = random.below(2);
        let input = make(class);
        let begun = Instant::now();
        black_box(work(black_box(&input)));
        samples.push((class, begun.elapsed().as_nanos() as f64));
    }
    samples.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    samples.truncate(SAMPLES / 10 * 9);
    let [(mean, variance), (other_mean, other_variance)] = [0, 1].map(|class| {
        let times: Vec<f64> =
            samples.iter().filter(|(of, _)| *of == class).map(|(_, time)| *time).collect();
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        (mean, squares / (count - 1.0) / count)
    });
    (mean - other_mean).abs() / (variance + other_variance).sqrt()
}

/// A digest, and one that differs in the first or in the last byte.
fn digests(class: usize) -> [SecretDigest; 2] {
    let stored = PlainToken::generate(&OsRandom).unwrap().digest();
    let mut bytes = *stored.as_bytes();
    bytes[[0, 31][class]] ^= 1;
    [stored, SecretDigest::new(bytes)]
}

#[test]
fn the_time_of_comparing_digests_is_constant() {
    let t = compare(digests, |[stored, other]| {
        (0..REPEATS).all(|_| black_box(stored) != black_box(other))
    });
    assert!(t < THRESHOLD, "|t| {t}");
}

#[test]
fn a_comparison_that_ends_early_is_found() {
    let t = compare(digests, |[stored, other]| {
        let same = |(one, other): (&u8, &u8)| one == other;
        let pairs = || stored.as_bytes().iter().zip(other.as_bytes());
        (0..REPEATS).all(|_| !black_box(pairs()).all(same))
    });
    assert!(t > THRESHOLD, "|t| {t}");
}

#[test]
fn the_time_of_verifying_signatures_is_constant() {
    let secrets = [(); 2].map(|()| WebhookSecret::generate(&OsRandom).unwrap());
    let [first, second] = &secrets;
    let events = Cell::new(0);
    for (what, classes) in [
        ("wrong digit", [(first, Some(0)), (first, Some(63))]),
        ("right secret", [(first, None), (second, None)]),
    ] {
        let delivery = |class: usize| {
            events.set(events.get() + 1);
            let (secret, wrong) = classes[class];
            delivery(events.get(), secret, wrong)
        };
        let t = compare(delivery, |(headers, body)| {
            let now = Timestamp::from_millis(SENT * 1000);
            verify(&secrets, headers, body.as_bytes(), now).is_ok()
        });
        assert!(t < THRESHOLD, "{what}: |t| {t}");
    }
}

/// Headers and body of a delivery, with a wrong digit at this index of the signature.
fn delivery(event: u64, secret: &WebhookSecret, wrong: Option<usize>) -> (HeaderMap, String) {
    let body =
        format!(r#"{{"delivery":"dlv_1","topic":"thread.created","event":"evt_{event:010}"}}"#);
    let key = secret.expose_secret().as_bytes();
    let mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap()
        .chain_update(format!("{SENT}.{body}"))
        .finalize();
    let digits: Vec<_> = mac.into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut mac_hex = digits.concat().into_bytes();
    if let Some(wrong) = wrong {
        mac_hex[wrong] = if mac_hex[wrong] == b'0' { b'1' } else { b'0' };
    }
    let signature = format!("sha256={}", String::from_utf8(mac_hex).unwrap());
    let headers = [
        ("x-forum-event", "thread.created"),
        ("x-forum-delivery", "dlv_1"),
        ("x-forum-timestamp", &SENT.to_string()),
        ("x-forum-signature", &signature),
    ];
    let header =
        |(name, value): (&'static str, &str)| (name.parse().unwrap(), value.parse().unwrap());
    (headers.map(header).into_iter().collect(), body)
}
