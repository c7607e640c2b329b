//! Each path of a delivery (spec, States; contract, section 8).

use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::webhook::{Secret, State, Topic, verify};

use super::receivers::Reply;
use super::scene::{HOUR, SECRET, Scene, seconds, url};

/// One endpoint, one event, and what the receiver does with the attempts.
pub(super) fn scene(replies: impl IntoIterator<Item = Reply>) -> Scene {
    let scene = Scene::new();
    scene.add("a");
    scene.receivers.does(&url("a"), replies);
    scene.happen();
    scene
}

#[test]
fn a_success_ends_it_and_is_noted() {
    let scene = scene([Reply::After(Duration::from_millis(120), 200)]);
    let began = Timestamp::from_millis(1_767_225_600_000);
    scene.start();
    scene.pass(HOUR);
    let (delivery, attempts) = scene.only();
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(delivery.progress.due_at, None);
    let [attempt] = &attempts[..] else { panic!() };
    assert_eq!((attempt.attempt, attempt.at), (1, began));
    assert_eq!((attempt.status, attempt.duration_ms), (Some(200), 120));
    assert_eq!(attempt.error, None);
    assert_eq!(attempt.answer.as_ref().unwrap().len(), 4096);
    assert_eq!(scene.receivers.sent().len(), 1);
}

#[test]
fn what_is_sent_is_signed_and_says_what_it_is() {
    let scene = scene([Reply::Status(204)]);
    scene.start();
    let sent = &scene.receivers.sent()[0];
    let names = sent.request.headers.keys().map(http::HeaderName::as_str);
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    let expected = [
        "content-type",
        "user-agent",
        "x-forum-delivery",
        "x-forum-event",
        "x-forum-signature",
        "x-forum-timestamp",
    ];
    assert_eq!(names, expected);
    assert_eq!(sent.header("x-forum-event"), "post.created");
    assert_eq!(
        sent.header("x-forum-delivery"),
        scene.only().0.id.to_string()
    );
    assert_eq!(
        &*sent.request.body,
        br#"{"event":"evt_0","topic":"post.created"}"#
    );
    let secret = Secret::new(SECRET).unwrap();
    let request = &sent.request;
    assert!(verify(&[secret], &request.headers, &request.body, sent.at).is_ok());
}

#[test]
fn it_may_succeed_at_the_third_attempt() {
    let scene = scene([Reply::Status(500), Reply::Refuses, Reply::Status(204)]);
    scene.start();
    assert_eq!(scene.stands(), (State::Retrying, 1));
    scene.pass(seconds(30));
    assert_eq!(scene.stands(), (State::Retrying, 2));
    scene.pass(seconds(60));
    assert_eq!(scene.stands(), (State::Delivered, 3));
    let (_, attempts) = scene.only();
    let ends: Vec<_> = attempts
        .iter()
        .map(|one| (one.attempt, one.status, one.error.as_deref()))
        .collect();
    let refused = Some("connection refused");
    assert_eq!(
        ends,
        [
            (1, Some(500), None),
            (2, None, refused),
            (3, Some(204), None)
        ]
    );
}

#[test]
fn the_id_stays_and_the_signature_is_fresh_each_time() {
    let scene = scene([Reply::Status(500)]);
    scene.start();
    scene.pass(HOUR);
    let sent = scene.receivers.sent();
    assert_eq!(sent.len(), 6);
    for sent in &sent {
        assert_eq!(
            sent.header("x-forum-delivery"),
            scene.only().0.id.to_string()
        );
        let now = sent.at.as_millis() / 1000;
        assert_eq!(sent.header("x-forum-timestamp"), now.to_string());
        let secret = Secret::new(SECRET).unwrap();
        assert!(
            verify(
                &[secret],
                &sent.request.headers,
                &sent.request.body,
                sent.at
            )
            .is_ok()
        );
    }
}

#[test]
fn after_six_failures_it_is_dead_and_kept() {
    for failure in [
        Reply::Status(199),
        Reply::Status(302),
        Reply::Status(404),
        Reply::Status(503),
        Reply::Refuses,
        Reply::Panics,
        Reply::Hangs,
    ] {
        let scene = scene([failure]);
        scene.start();
        scene.pass(HOUR);
        assert_eq!(scene.stands(), (State::Dead, 6), "{failure:?}");
        assert_eq!(scene.receivers.sent().len(), 6);
        let (delivery, attempts) = scene.only();
        assert_eq!(delivery.progress.due_at, None);
        let numbers: Vec<_> = attempts.iter().map(|one| one.attempt).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn gone_ends_it_at_the_first_attempt_and_at_the_sixth() {
    for before in [0, 5] {
        let failures = vec![Reply::Status(500); before];
        let scene = scene(failures.into_iter().chain([Reply::Status(410)]));
        scene.start();
        scene.pass(HOUR);
        let attempts = before + 1;
        assert_eq!(
            scene.stands(),
            (State::Gone, u32::try_from(attempts).unwrap())
        );
        assert_eq!(scene.receivers.sent().len(), attempts);
        scene.happens(&Topic::POST_UPDATED, Some(1));
        scene.pass(seconds(2));
        assert_eq!(
            scene.receivers.sent().len(),
            attempts + 1,
            "the endpoint stays enabled"
        );
    }
}

#[test]
fn an_operator_retries_it_twice_with_the_same_id() {
    let failures = [Reply::Status(500); 6];
    let scene = scene(
        failures
            .into_iter()
            .chain([Reply::Status(410), Reply::Status(204)]),
    );
    let handle = scene.start();
    scene.pass(HOUR);
    for (stands, round) in [((State::Gone, 1), 7), ((State::Delivered, 1), 8)] {
        let (delivery, _) = scene.only();
        scene.retry(&delivery);
        handle.wake();
        scene.runtime.run();
        assert_eq!(scene.stands(), stands);
        assert_eq!(
            scene.only().1.last().unwrap().attempt,
            1,
            "counted from the start"
        );
        let sent = scene.receivers.sent();
        let id = delivery.id.to_string();
        assert!(
            sent.iter()
                .all(|sent| sent.header("x-forum-delivery") == id)
        );
        assert_eq!(sent.len(), round);
    }
}

#[test]
fn an_operator_s_retry_has_six_attempts_of_its_own() {
    let scene = scene([Reply::Status(500)]);
    scene.start();
    scene.pass(HOUR);
    let (delivery, _) = scene.only();
    scene.retry(&delivery);
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Dead, 6));
    assert_eq!(scene.receivers.sent().len(), 12);
}

#[test]
fn an_attempt_that_hangs_is_given_up_well_before_its_lease_ends() {
    let scene = scene([Reply::Hangs, Reply::Status(204)]);
    scene.start();
    scene.pass(seconds(15));
    let (_, attempts) = scene.only();
    assert_eq!(scene.stands(), (State::Retrying, 1));
    assert_eq!(attempts[0].duration_ms, 15_000);
    assert_eq!(
        attempts[0].error.as_deref(),
        Some("there was no answer in time")
    );
    scene.pass(seconds(30));
    assert_eq!(scene.stands(), (State::Delivered, 2));
    assert!(scene.settings.lease() > scene.settings.step * 3);
}

#[test]
fn a_panic_of_the_transport_ends_that_attempt_alone() {
    let scene = scene([Reply::Panics, Reply::Status(204)]);
    scene.add("b");
    scene.start();
    scene.pass(seconds(30));
    let states = scene.deliveries().into_iter().map(|one| one.progress);
    let ends: Vec<_> = states.map(|one| (one.state, one.attempts)).collect();
    assert!(ends.contains(&(State::Delivered, 1)) && ends.contains(&(State::Delivered, 2)));
}

#[test]
fn a_rotated_secret_signs_from_when_it_is_in_force() {
    let scene = scene([Reply::Status(500)]);
    let new = Secret::new("whsec_the-one-after-it").unwrap();
    let endpoint = scene.stores.endpoints.all();
    let endpoint = scene.runtime.block_on(endpoint).unwrap().remove(0);
    let now = scene.now();
    scene.change(&endpoint.id, |endpoint| {
        use forum_api::webhook::{Plain, SecretBox as _};
        let sealed = Plain.seal(&new, &endpoint.id).unwrap();
        endpoint.rotated(sealed, now)
    });
    scene.start();
    scene.change(&endpoint.id, |endpoint| endpoint.activated(now).unwrap());
    scene.pass(seconds(30));
    let old = Secret::new(SECRET).unwrap();
    for (sent, secret) in scene.receivers.sent().iter().zip([old, new]) {
        let signed = verify(
            &[secret],
            &sent.request.headers,
            &sent.request.body,
            sent.at,
        );
        assert!(signed.is_ok());
    }
    assert_eq!(scene.receivers.sent().len(), 2);
}
