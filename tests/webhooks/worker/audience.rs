//! Who is told of what: topics, and what an endpoint's owner may see (contract, section 8).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forum_api::webhook::{Endpoint, Plain, Sealed, State, Topic};

use super::people::Word;
use super::receivers::Reply;
use super::scene::{HOUR, Lost, Scene, seconds, topics, url};

#[test]
fn an_endpoint_is_told_of_its_topics() {
    let scene = Scene::new();
    let (post, message) = (Topic::POST_CREATED, Topic::MESSAGE_SENT);
    scene.add_for(topics(true, &[]), "all");
    scene.add_for(topics(false, &[post, Topic::POST_DELETED]), "posts");
    scene.add_for(topics(false, std::slice::from_ref(&message)), "messages");
    scene.add_for(topics(true, &[message]), "both");
    for topic in [Topic::POST_CREATED, Topic::POST_UPDATED] {
        scene.happens(&topic, None);
    }
    scene.send_message(1, &[2]);
    let own = Topic::new("garden.gate.opened").unwrap();
    scene.happens(&own, None);
    scene.start();
    let told = |name| {
        let sent = scene.receivers.sent().into_iter();
        let here = sent.filter(|sent| sent.request.url == url(name));
        let mut told: Vec<_> = here
            .map(|sent| sent.header("x-forum-event").to_owned())
            .collect();
        told.sort_unstable();
        told
    };
    assert_eq!(
        told("all"),
        ["garden.gate.opened", "post.created", "post.updated"]
    );
    assert_eq!(told("posts"), ["post.created"]);
    assert_eq!(told("messages"), ["message.sent"]);
    assert_eq!(
        told("both"),
        [
            "garden.gate.opened",
            "message.sent",
            "post.created",
            "post.updated"
        ]
    );
}

#[test]
fn an_endpoint_is_told_of_what_its_owner_sees_at_fan_out() {
    let scene = Scene::new();
    scene.add("a");
    scene.people.say(1, Word::Sees(vec![7]));
    for forum in [Some(7), Some(8), None] {
        scene.happens(&Topic::POST_CREATED, forum);
    }
    scene.start();
    let bodies = scene
        .receivers
        .sent()
        .into_iter()
        .map(|sent| sent.request.body);
    let bodies: Vec<_> = bodies.collect();
    assert_eq!((bodies.len(), scene.deliveries().len()), (2, 2));
    assert!(
        !bodies
            .iter()
            .any(|body| body.windows(5).any(|part| part == b"evt_1"))
    );
    scene.people.say(1, Word::Sees(vec![7, 8]));
    scene.pass(HOUR);
    assert_eq!(
        scene.receivers.sent().len(),
        2,
        "what was not queued never is"
    );
}

#[test]
fn a_private_message_is_sent_to_endpoints_of_its_parties_only() {
    let scene = Scene::new();
    let members = [(1, "sender"), (2, "recipient"), (3, "third"), (4, "other")];
    for (owner, name) in members {
        scene.add_with(name, |endpoint| Endpoint {
            owner: owner.into(),
            topics: topics(true, &[Topic::MESSAGE_SENT]),
            ..endpoint
        });
    }
    scene.send_message(1, &[2, 3]);
    scene.start();
    let sent = scene.receivers.sent().into_iter();
    let mut urls: Vec<_> = sent.map(|sent| sent.request.url).collect();
    urls.sort_unstable();
    assert_eq!(urls, ["recipient", "sender", "third"].map(url));
    assert_eq!(scene.deliveries().len(), 3, "none is queued for the other");
}

#[test]
fn a_private_message_is_withheld_when_the_owner_is_no_party_at_the_attempt() {
    let scene = Scene::new();
    let endpoint = scene.add_for(topics(false, &[Topic::MESSAGE_SENT]), "a");
    scene.receivers.does(&url("a"), [Reply::Status(500)]);
    scene.send_message(2, &[1]);
    scene.start();
    assert_eq!(scene.stands(), (State::Retrying, 1));
    scene.change(&endpoint.id, |endpoint| Endpoint {
        owner: 3.into(),
        ..endpoint
    });
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Withheld, 1));
    assert_eq!(scene.receivers.sent().len(), 1);
}

#[test]
fn one_who_can_no_longer_act_is_told_of_nothing() {
    let scene = Scene::new();
    scene.add("a");
    scene.people.say(1, Word::CannotAct);
    scene.happen();
    scene.happens(&Topic::MEMBER_RATED, None);
    scene.start();
    scene.pass(HOUR);
    assert!(scene.deliveries().is_empty() && scene.receivers.sent().is_empty());
}

#[test]
fn an_offline_board_tells_as_ever() {
    let scene = Scene::new();
    scene.add("a");
    scene.people.say(1, Word::Offline);
    scene.happen();
    scene.start();
    assert_eq!(scene.stands(), (State::Delivered, 1));
}

#[test]
fn what_its_owner_may_not_be_told_any_more_is_withheld() {
    for word in [Word::CannotAct, Word::Sees(vec![2])] {
        let scene = Scene::new();
        scene.add("a");
        scene.receivers.does(&url("a"), [Reply::Status(500)]);
        scene.happen();
        scene.start();
        assert_eq!(scene.stands(), (State::Retrying, 1));
        scene.people.say(1, word);
        scene.pass(HOUR);
        assert_eq!(scene.stands(), (State::Withheld, 1));
        assert_eq!(scene.receivers.sent().len(), 1);
        assert_eq!(scene.only().1.len(), 1, "nothing was attempted");
    }
}

#[test]
fn what_is_in_no_forum_is_withheld_from_one_who_cannot_act_alone() {
    for (word, state) in [
        (Word::CannotAct, State::Withheld),
        (Word::Sees(vec![]), State::Delivered),
    ] {
        let scene = Scene::new();
        let endpoint = scene.add("a");
        scene.people.say(1, word);
        scene.queue_in(None, &endpoint);
        scene.start();
        assert_eq!(scene.only().0.progress.state, state);
    }
}

#[test]
fn a_disabled_endpoint_is_told_of_nothing_new_and_what_is_queued_waits() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    let switch = |enabled| {
        scene.change(&endpoint.id, |endpoint| Endpoint {
            enabled,
            ..endpoint
        })
    };
    scene.queue(&endpoint);
    switch(false);
    scene.start();
    scene.happen();
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Queued, 0));
    switch(true);
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Delivered, 1));
    assert_eq!(scene.receivers.sent().len(), 1);
}

#[test]
fn with_an_endpoint_goes_what_was_queued_for_it() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene.receivers.does(&url("a"), [Reply::Status(500)]);
    scene.happen();
    scene.start();
    let removed = scene.stores.endpoints.remove(&endpoint.id);
    assert!(scene.runtime.block_on(removed).unwrap());
    scene.pass(HOUR);
    assert_eq!(scene.receivers.sent().len(), 1);
    assert!(scene.deliveries().is_empty());
}

#[test]
fn each_owner_is_asked_for_once_in_a_batch() {
    let scene = Scene::new();
    for (place, name) in (0..).zip(["a", "b", "c", "d"]) {
        scene.add_of(place % 2, name);
    }
    scene.add_with("deaf", |endpoint| Endpoint {
        owner: 8.into(),
        topics: topics(false, &[Topic::POLL_VOTED]),
        ..endpoint
    });
    scene.add_with("disabled", |endpoint| Endpoint {
        owner: 9.into(),
        enabled: false,
        ..endpoint
    });
    scene.people.say(0, Word::CannotAct);
    scene.people.say(1, Word::CannotAct);
    for _ in 0..100 {
        scene.happen();
    }
    scene.start();
    assert_eq!(scene.people.asked.load(Ordering::SeqCst), 2);
}

#[test]
fn of_an_owner_who_cannot_be_asked_for_it_is_known_later() {
    for word in [Word::Fails, Word::Panics, Word::NeverSays] {
        for (later, state, attempts) in [
            (Word::Sees(vec![1]), State::Delivered, 1),
            (Word::Sees(vec![2]), State::Withheld, 0),
            (Word::CannotAct, State::Withheld, 0),
        ] {
            let scene = Scene::new();
            scene.add("a");
            scene.people.say(1, word.clone());
            scene.happen();
            scene.start();
            scene.pass(seconds(600));
            assert_eq!(scene.stands(), (State::Queued, 0));
            assert!(scene.receivers.sent().is_empty());
            scene.people.say(1, later);
            scene.pass(seconds(60));
            assert_eq!(scene.stands(), (state, attempts));
        }
    }
}

#[test]
fn an_owner_who_cannot_be_asked_for_keeps_no_event_from_others() {
    for word in [Word::Fails, Word::Panics, Word::NeverSays] {
        let scene = Scene::new();
        scene.add("stuck");
        scene.add_of(2, "other");
        scene.people.say(1, word);
        scene.happen();
        scene.start();
        scene.pass(seconds(15));
        assert_eq!(scene.receivers.times(&url("other")).len(), 1);
        assert_eq!(scene.receivers.times(&url("stuck")).len(), 0);
    }
}

#[test]
fn while_the_authority_fails_deliveries_wait_uncounted() {
    for word in [Word::Fails, Word::Panics, Word::NeverSays] {
        let scene = Scene::new();
        scene.queue(&scene.add("a"));
        scene.people.say(1, word);
        scene.start();
        scene.pass(seconds(600));
        assert_eq!(scene.stands(), (State::Queued, 0));
        let asked = scene.people.asked.load(Ordering::SeqCst);
        assert!(
            (20..150).contains(&asked),
            "asked {asked} times in ten minutes"
        );
        scene.people.say(1, Word::Sees(vec![1]));
        scene.pass(seconds(30));
        assert_eq!(scene.stands(), (State::Delivered, 1));
        assert_eq!(scene.only().1.len(), 1);
    }
}

#[test]
fn a_failing_authority_is_not_asked_at_once_for_whatever_else_is_queued() {
    let scene = Scene::new();
    let endpoint = scene.add("a");
    scene.people.say(1, Word::Fails);
    (0..1000).for_each(|_| scene.queue(&endpoint));
    scene.start();
    scene.pass(seconds(59));
    let asked = scene.people.asked.load(Ordering::SeqCst);
    assert!((12..=4 * 12).contains(&asked), "asked {asked} times");
}

#[test]
fn an_owner_who_cannot_be_asked_for_holds_nobody_else_up() {
    let scene = Scene::new();
    let stuck = scene.add("stuck");
    let other = scene.add_of(2, "other");
    scene.people.say(1, Word::NeverSays);
    for _ in 0..50 {
        scene.queue(&stuck);
        scene.queue(&other);
    }
    scene.start();
    assert_eq!(scene.receivers.times(&url("other")).len(), 50);
}

#[test]
fn a_secret_that_cannot_be_decrypted_makes_its_deliveries_wait_ever_longer() {
    let mut scene = Scene::new();
    scene.secrets = Arc::new(Lost);
    scene.queue(&scene.add("a"));
    let handle = scene.start();
    let (delivery, log) = scene.only();
    assert_eq!(
        (delivery.progress.state, delivery.progress.attempts),
        (State::Retrying, 0)
    );
    assert_eq!(
        delivery.progress.due_at,
        Some(scene.now().plus(seconds(30)))
    );
    assert_eq!(log[0].error.as_deref(), Some("nothing was sent: no key"));
    scene.pass(HOUR * 24);
    let tried: Vec<_> = scene
        .only()
        .1
        .iter()
        .map(|one| one.at.since(delivery.created_at).as_secs())
        .collect();
    assert_eq!(tried[..8], [0, 30, 60, 120, 240, 480, 960, 1920]);
    assert!(tried.len() < 40, "at most once an hour in the end");
    assert_eq!(
        scene.stands(),
        (State::Retrying, 0),
        "no attempt is counted"
    );
    assert!(scene.receivers.sent().is_empty());
    scene.runtime.block_on(handle.stop());
    scene.secrets = Arc::new(Plain);
    scene.start();
    scene.pass(HOUR);
    assert_eq!(scene.stands(), (State::Delivered, 1));
}

/// Events that occurred before the registration are not delivered, also those that still wait for fan-out then.
#[test]
fn an_endpoint_receives_no_event_from_before_its_registration() {
    let scene = Scene::new();
    scene.happen();
    scene.pass(Duration::from_millis(1));
    scene.add("a");
    let at_once = scene.happen();
    scene.pass(seconds(1));
    let later = scene.happen();
    scene.start();
    scene.pass(HOUR);
    let sent = scene.receivers.sent();
    let bodies: Vec<_> = sent.iter().map(|sent| sent.request.body.clone()).collect();
    assert_eq!(bodies, [at_once.body, later.body]);
}

#[test]
fn a_secret_that_cannot_be_decrypted_delays_no_other_endpoint() {
    let scene = Scene::new();
    let unreadable = scene.add_with("unreadable", |endpoint| Endpoint {
        secret: Sealed::new(vec![0xff; 64]),
        ..endpoint
    });
    let other = scene.add("other");
    scene.queue(&unreadable);
    (0..3).for_each(|_| scene.queue(&other));
    scene.start();
    assert_eq!(scene.receivers.times(&url("other")).len(), 3);
}
