//! A secret is rotated in two steps: shown and pending, then in force.

use forum_api::webhook::{Endpoint, NothingPending, Plain, SecretBox};

use crate::sample::{after, endpoint, secret};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The endpoint with a new secret of this letter, so many milliseconds after the beginning.
fn rotated(endpoint: Endpoint, letter: &str, millis: i64) -> Endpoint {
    let sealed = Plain.seal(&secret(letter), &endpoint.id).unwrap();
    endpoint.rotated(sealed, after(millis))
}

/// The letter of the secret that signs so many milliseconds after the beginning.
fn letter(endpoint: &Endpoint, millis: i64) -> String {
    let secret = Plain
        .open(endpoint.secret_at(after(millis)), &endpoint.id)
        .unwrap();
    secret.reveal()[6..7].to_owned()
}

#[test]
fn the_old_one_signs_until_the_new_one_is_activated() {
    let pending = rotated(endpoint("A"), "B", 0);
    assert_eq!(letter(&pending, 5), "A");
    let active = pending.activated(after(5)).unwrap();
    assert_eq!(letter(&active, 5), "B");
    assert_eq!(active.pending, None);
}

#[test]
fn the_new_one_signs_after_a_day_by_itself() {
    let pending = rotated(endpoint("A"), "B", 0);
    for (millis, expected) in [(0, "A"), (DAY - 1, "A"), (DAY, "B"), (9 * DAY, "B")] {
        assert_eq!(letter(&pending, millis), expected, "{millis}");
    }
}

#[test]
fn a_second_rotation_takes_the_place_of_the_first() {
    let twice = rotated(rotated(endpoint("A"), "B", 0), "C", DAY - 1);
    assert_eq!(letter(&twice, DAY), "A");
    assert_eq!(letter(&twice, 2 * DAY - 2), "A");
    assert_eq!(letter(&twice, 2 * DAY - 1), "C");
    assert_eq!(letter(&twice.activated(after(DAY)).unwrap(), DAY), "C");
}

#[test]
fn a_rotation_after_the_last_one_is_in_force_keeps_what_signs() {
    let later = rotated(rotated(endpoint("A"), "B", 0), "C", DAY);
    assert_eq!(letter(&later, DAY), "B");
    assert_eq!(letter(&later, 2 * DAY), "C");
}

#[test]
fn what_does_not_pend_cannot_be_activated() {
    let never = endpoint("A").activated(after(0));
    let in_force = rotated(endpoint("A"), "B", 0).activated(after(DAY));
    let once = rotated(endpoint("A"), "B", 0).activated(after(1)).unwrap();
    for refused in [never, in_force, once.activated(after(2))] {
        assert_eq!(refused, Err(NothingPending));
    }
    assert_eq!(NothingPending.to_string(), "no secret is pending");
}
