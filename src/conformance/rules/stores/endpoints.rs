//! Endpoints and the id of the encryption key.

use std::time::Duration;

use super::*;
use crate::model::UserId;
use crate::store::{ClaimedDelivery, Settlement};
use crate::webhook::{
    AttemptRecord, DeliveryState, EncryptedSecret, Endpoint, KeyId, PendingSecret, Topic, TopicSet,
};

store_rules! {
    mod endpoints, __rules_endpoints;

    /// An added endpoint is found with all fields unchanged.
    async fn an_added_endpoint_is_found_unchanged(fixture: &StoreFixture) -> TestResult {
        let every_field = Endpoint {
            url: "http://ex\u{e4}mple.com:8443/a?b='c'".into(),
            topics: TopicSet { all: true, named: [Topic::MESSAGE_SENT, Topic::PING].into() },
            owner: UserId::parse("a_Member-01")?,
            enabled: false,
            created_at: instant(-5),
            secret: EncryptedSecret::new((0..=255).collect()),
            pending_secret: Some(PendingSecret { secret: EncryptedSecret::new(vec![0]), activates_at: instant(9) }),
            version: 3,
            ..endpoint(2)?
        };
        let no_secret = EncryptedSecret::new(Vec::new());
        let no_topic = Endpoint { topics: TopicSet::default(), secret: no_secret, ..endpoint(3)? };
        for endpoint in [endpoint(1)?, every_field, no_topic] {
            fixture.webhooks.endpoints.add(&endpoint, &audit_entry()).await?;
            check_eq!(find(fixture, &endpoint).await?, Some(endpoint))?;
        }
        Ok(())
    }

    /// Adding a second endpoint with the same id is rejected and changes nothing.
    async fn an_endpoint_id_is_unique(fixture: &StoreFixture) -> TestResult {
        let first = fixture.add_endpoint(1).await?;
        let second = Endpoint { url: "https://example.org".into(), ..endpoint(1)? };
        check_eq!(fixture.webhooks.endpoints.add(&second, &audit_entry()).await?, false)?;
        check_eq!(find(fixture, &first).await?, Some(first))
    }

    /// An unknown endpoint is not found, without an error.
    async fn an_unknown_endpoint_is_not_found(fixture: &StoreFixture) -> TestResult {
        fixture.add_endpoint(1).await?;
        let unknown = endpoint(2)?;
        check_eq!(find(fixture, &unknown).await?, None)?;
        check_eq!(fixture.webhooks.endpoints.remove(&unknown.id, &audit_entry()).await?, false)?;
        check_eq!(fixture.webhooks.endpoints.update(&unknown, &audit_entry()).await?, false)
    }

    /// An update replaces only the version from which it was made.
    async fn an_update_requires_the_current_version(fixture: &StoreFixture) -> TestResult {
        let [first, other] = fixture.add_endpoints().await?;
        let changed = Endpoint {
            url: "https://example.org".into(),
            topics: TopicSet { all: false, named: [Topic::POLL_VOTED].into() },
            enabled: false,
            secret: EncryptedSecret::new(vec![8; 16]),
            ..first.clone()
        };
        for (endpoint, expected) in [(&changed, true), (&first, false), (&changed, false)] {
            check_eq!(fixture.webhooks.endpoints.update(endpoint, &audit_entry()).await?, expected)?;
        }
        check_eq!(find(fixture, &first).await?, Some(Endpoint { version: 2, ..changed }))?;
        check_eq!(find(fixture, &other).await?, Some(other))
    }

    /// Exactly one of several concurrent updates of one version succeeds.
    async fn one_of_concurrent_updates_succeeds(fixture: &StoreFixture) -> TestResult {
        let first = fixture.add_endpoint(1).await?;
        let updates = (0..20).map(|number| {
            let endpoints = fixture.webhooks.endpoints.clone();
            let url = format!("https://example.org/{number}");
            let endpoint = Endpoint { url, ..first.clone() };
            async move { endpoints.update(&endpoint, &audit_entry()).await.map(|succeeded| succeeded.then_some(endpoint)) }
        });
        let updated = succeed_concurrently(updates).await?.into_iter().flatten();
        let succeeded = Endpoint { version: 2, ..only(updated)? };
        check_eq!(find(fixture, &first).await?, Some(succeeded))
    }

    /// A removed endpoint is not found, listed or updated.
    async fn a_removed_endpoint_is_not_found(fixture: &StoreFixture) -> TestResult {
        let [removed, other] = fixture.add_endpoints().await?;
        let endpoints = &fixture.webhooks.endpoints;
        for expected in [true, false] {
            check_eq!(endpoints.remove(&removed.id, &audit_entry()).await?, expected)?;
        }
        check_eq!(endpoints.update(&removed, &audit_entry()).await?, false)?;
        check_eq!(find(fixture, &removed).await?, None)?;
        check_eq!(endpoints.list().await?, [other])
    }

    /// Endpoints are listed in insertion order. Updates keep the order.
    async fn endpoints_are_listed_in_insertion_order(fixture: &StoreFixture) -> TestResult {
        let mut added = Vec::new();
        for number in [7, 3, 9, 1] {
            added.push(fixture.add_endpoint(number).await?);
        }
        let endpoints = &fixture.webhooks.endpoints;
        for endpoint in &mut added {
            endpoints.update(endpoint, &audit_entry()).await?;
            endpoint.version = 2;
        }
        check_eq!(endpoints.list().await?, added)
    }

    /// A topic is subscribed if an enabled endpoint names it or `*`. `*` covers neither `message.sent` nor `ping`.
    async fn a_topic_is_subscribed_by_enabled_endpoints_only(fixture: &StoreFixture) -> TestResult {
        let topics = [Topic::POST_CREATED, Topic::POLL_VOTED, Topic::MESSAGE_SENT, Topic::PING];
        let endpoints = &fixture.webhooks.endpoints;
        let named = |topic: &Topic| TopicSet { all: false, named: [topic.clone()].into() };
        let mut endpoint = Endpoint { enabled: false, ..fixture.add_endpoint(1).await? };
        let everything = TopicSet { all: true, named: [Topic::PING].into() };
        for (set, enabled, expected) in [
            (TopicSet { all: true, named: topics.clone().into() }, false, [false; 4]),
            (TopicSet::default(), true, [false; 4]),
            (named(&Topic::POST_CREATED), true, [true, false, false, false]),
            (named(&Topic::MESSAGE_SENT), true, [false, false, true, false]),
            (everything, true, [true, true, false, true]),
        ] {
            endpoint = Endpoint { topics: set, enabled, ..endpoint };
            endpoints.update(&endpoint, &audit_entry()).await?;
            endpoint.version += 1;
            for (topic, expected) in topics.iter().zip(expected) {
                check_eq!(endpoints.is_subscribed(topic).await?, expected)?;
            }
        }
        let part = Topic::parse("ost.created")?;
        endpoint.topics = named(&Topic::POST_CREATED);
        endpoints.update(&endpoint, &audit_entry()).await?;
        check_eq!(endpoints.is_subscribed(&part).await?, false)
    }

    /// An endpoint is failing from its first failed attempt until an attempt succeeds, and slow if the last attempt
    /// took longer than a second. Its version does not change.
    async fn an_endpoint_fails_until_an_attempt_succeeds(fixture: &StoreFixture) -> TestResult {
        let [endpoint, other] = fixture.add_endpoints().await?;
        for (number, state, duration_ms, now, expected) in [
            (1, DeliveryState::Dead, 1000, 5, Some(5)),
            (2, DeliveryState::Gone, 1001, 6, Some(5)),
            (3, DeliveryState::Delivered, 1001, 7, None),
            (4, DeliveryState::Delivered, 1000, 8, None),
            (5, DeliveryState::Delivered, 9000, 9, None),
            (6, DeliveryState::Retrying, 1, 10, Some(10)),
        ] {
            attempt(fixture, number, &endpoint, state, duration_ms, now).await?;
            let failing_since = expected.map(instant);
            let is_slow = duration_ms > 1000;
            check_eq!(find(fixture, &endpoint).await?, Some(Endpoint { failing_since, is_slow, ..endpoint.clone() }))?;
        }
        check_eq!(find(fixture, &other).await?, Some(other))
    }

    /// The results of one call apply in their order: a success ends the failures before it, and a failure after it begins new
    /// ones. The last attempt decides whether the endpoint is slow.
    async fn results_of_one_call_apply_in_their_order(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        attempt(fixture, 1, &endpoint, DeliveryState::Dead, 1, 5).await?;
        let fast_failure = (DeliveryState::Dead, 1);
        let slow_success = (DeliveryState::Delivered, 1001);
        for (first, now, results, failing_since, is_slow) in [
            (2, 6, [fast_failure, slow_success], None, true),
            (4, 7, [slow_success, fast_failure], Some(instant(7)), false),
            (6, 8, [slow_success, fast_failure], Some(instant(8)), false),
        ] {
            for number in [first, first + 1] {
                fixture.enqueue(number, &endpoint, now).await?;
            }
            let claimed = fixture.claim(&claim_request(2), now).await?.deliveries;
            let settlement = |(claimed, (state, duration_ms)): (&ClaimedDelivery, _)| {
                let record = AttemptRecord { duration_ms, ..attempt_record(1) };
                Settlement::new(claimed, progress(state, 1, None), Some(record), instant(now))
            };
            let settlements: Vec<_> = claimed.iter().zip(results).map(settlement).collect();
            check_eq!(fixture.settle_all(&settlements, now).await?.len(), 2)?;
            let expected = Endpoint { failing_since, is_slow, ..endpoint.clone() };
            check_eq!(find(fixture, &endpoint).await?, Some(expected))?;
        }
        Ok(())
    }

    /// Only an enabled endpoint that has been failing for the given time or longer is disabled. Enabling the endpoint resets its
    /// failures; any other update does not.
    async fn a_failing_endpoint_is_disabled_until_it_is_enabled(fixture: &StoreFixture) -> TestResult {
        let [endpoint, other] = fixture.add_endpoints().await?;
        let endpoints = &fixture.webhooks.endpoints;
        let disable = async |endpoint: &Endpoint, since| {
            let period = Duration::from_millis(70);
            let now = instant(since).saturating_add(period);
            let audit = audit_entry();
            endpoints.disable_if_failing(&endpoint.id, period, now, &audit).await
        };
        check!(!disable(&endpoint, 5).await?, "an endpoint without failed attempts is not disabled")?;
        attempt(fixture, 1, &endpoint, DeliveryState::Dead, 1, 5).await?;
        for (since, expected) in [(4, false), (5, true), (5, false)] {
            check_eq!(disable(&endpoint, since).await?, expected)?;
        }
        let failing_since = Some(instant(5));
        let disabled = Endpoint { enabled: false, failing_since, auto_disabled: true, version: 2, ..endpoint };
        check_eq!(find(fixture, &disabled).await?, Some(disabled.clone()))?;
        check!(endpoints.update(&disabled, &audit_entry()).await?)?;
        let stats = fixture.webhooks.deliveries.queue_stats(instant(6)).await?;
        check_eq!((stats.dead, stats.disabled_endpoints), (1, 1))?;
        let enabled = Endpoint { enabled: true, version: 3, ..disabled };
        check!(endpoints.update(&enabled, &audit_entry()).await?)?;
        let reset = Endpoint { failing_since: None, auto_disabled: false, version: 4, ..enabled };
        check_eq!(find(fixture, &reset).await?, Some(reset))?;
        check_eq!(find(fixture, &other).await?, Some(other))
    }

    /// The key id is `None` at first. A call replaces it only if it names the current one.
    async fn a_key_id_replaces_only_the_expected_one(fixture: &StoreFixture) -> TestResult {
        let endpoints = &fixture.webhooks.endpoints;
        let first = key("plaintext")?;
        let second = key("a_Key-02")?;
        check_eq!(endpoints.key_id().await?, None)?;
        for (former, new, expected) in [
            (Some(&first), &second, false),
            (None, &first, true),
            (None, &second, false),
            (Some(&second), &second, false),
            (Some(&first), &second, true),
        ] {
            let before = endpoints.key_id().await?;
            check_eq!(endpoints.replace_key(former, new, &[], None).await?, expected)?;
            let after = if expected { Some(new.clone()) } else { before };
            check_eq!(endpoints.key_id().await?, after)?;
        }
        Ok(())
    }

    /// The key id and the secrets of all given endpoints are replaced together, or not at all if a version differs.
    async fn a_key_and_its_secrets_are_replaced_together(fixture: &StoreFixture) -> TestResult {
        let endpoints = &fixture.webhooks.endpoints;
        let first = key("first")?;
        let second = key("second")?;
        let secret = PendingSecret { secret: EncryptedSecret::new(vec![0xff; 3]), activates_at: instant(9) };
        let pending = Endpoint { pending_secret: Some(secret), ..endpoint(2)? };
        let one = fixture.add_endpoint(1).await?;
        let other = fixture.add_endpoint(3).await?;
        endpoints.add(&pending, &audit_entry()).await?;
        let changed = |endpoint: &Endpoint| {
            with(endpoint.clone(), |endpoint| {
                endpoint.secret = EncryptedSecret::new(vec![0xfe; 64]);
                if let Some(pending) = &mut endpoint.pending_secret {
                    pending.secret = EncryptedSecret::new(vec![0]);
                }
            })
        };
        let stale = Endpoint { version: 2, ..changed(&pending) };
        for rejected in [stale, changed(&endpoint(4)?)] {
            let given = [changed(&one), rejected];
            check_eq!(endpoints.replace_key(None, &first, &given, None).await?, false)?;
            check_eq!(endpoints.key_id().await?, None)?;
            check_eq!(find(fixture, &one).await?, Some(one.clone()))?;
        }
        let given = [changed(&one), changed(&pending)];
        check_eq!(endpoints.replace_key(None, &second, &given, None).await?, true)?;
        check_eq!(endpoints.key_id().await?, Some(second))?;
        for given in given {
            let actual = find(fixture, &given).await?;
            check_eq!(actual, Some(Endpoint { version: 2, ..given }))?;
        }
        check_eq!(find(fixture, &other).await?, Some(other))
    }
}

/// Queues the event with this number at `now`, and records an attempt of this duration that leads to this state.
async fn attempt(
    fixture: &StoreFixture,
    number: u64,
    endpoint: &Endpoint,
    state: DeliveryState,
    duration_ms: u64,
    now: i64,
) -> TestResult {
    fixture.enqueue(number, endpoint, now).await?;
    let claimed = fixture.claim_one(now).await?;
    let due = (state == DeliveryState::Retrying).then_some(1_000);
    let progress = progress(state, 1, due);
    let record = with(attempt_record(1), |record| record.duration_ms = duration_ms);
    check!(fixture.settle_attempt(&claimed, progress, Some(&record), now).await?)
}

async fn find(fixture: &StoreFixture, endpoint: &Endpoint) -> TestResult<Option<Endpoint>> {
    Ok(fixture.webhooks.endpoints.find(&endpoint.id).await?)
}

fn key(text: &str) -> TestResult<KeyId> {
    Ok(KeyId::parse(text)?)
}
