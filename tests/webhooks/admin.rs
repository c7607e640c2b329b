//! Administration of endpoints and replacement of keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use forum_api::Environment;
use forum_api::audit::{AuditAction, AuditActor};
use forum_api::model::{EndpointId, UserId};
use forum_api::runtime::{ManualClock, RandomError, RandomSource};
use forum_api::store::{AuditFilter, AuditRecord, DeliveryFilter, Settlement, WebhookStores};
use forum_api::test_util::{
    Intervention, StoreInterceptor, attempt_record, claim_request, stores_in_memory,
};
use forum_api::webhook::{DeliveryState, Endpoint, KeyId, SecretCipher as _, Topic};
use forum_api::webhook_admin::{
    AwaitedAttempt, EndpointUpdate, NewEndpoint, WebhookAdmin, WebhookAdminError,
};
use tokio::sync::Barrier;

use crate::sample::{after, endpoint, secret};
use crate::secret::cipher;
use crate::wire::FakeResolver;

static BY: AuditActor = AuditActor::SYSTEM;

fn admin(webhooks: &WebhookStores, environment: Environment) -> WebhookAdmin {
    let environment = environment.clock(Arc::new(ManualClock::new(after(0))));
    WebhookAdmin::new(webhooks.clone(), &environment)
        .resolver(FakeResolver::resolving_to(&["8.8.8.8"]))
}

fn admin_without_key(webhooks: &WebhookStores) -> WebhookAdmin {
    admin(webhooks, Environment::default())
}

async fn add_endpoint(admin: &WebhookAdmin, topics: &str) -> Result<EndpointId, WebhookAdminError> {
    let new = NewEndpoint {
        url: "https://receiver.example/hook".into(),
        topics: topics.parse().unwrap(),
        owner: UserId::from(1),
        owner_name: None,
        secret: Some(secret("A")),
    };
    admin.add(new, &BY).await.map(|added| added.endpoint.id)
}

async fn find(webhooks: &WebhookStores, id: &EndpointId) -> Endpoint {
    webhooks.find_endpoint(id).await.unwrap().unwrap()
}

/// Returns the same bytes each time.
#[derive(Debug)]
struct ConstantRandom;

impl RandomSource for ConstantRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(7);
        Ok(())
    }
}

#[tokio::test]
async fn an_endpoint_with_a_used_id_is_not_added() {
    let webhooks = stores_in_memory().1;
    let environment = Environment::default().random(Arc::new(ConstantRandom));
    let admin = admin(&webhooks, environment);
    add_endpoint(&admin, "*").await.unwrap();
    let again = add_endpoint(&admin, "post.created").await;
    assert!(matches!(again, Err(WebhookAdminError::Backend(_))));
    assert_eq!(webhooks.list_endpoints().await.unwrap().len(), 1);
}

fn topics(topics: &str) -> EndpointUpdate {
    EndpointUpdate { topics: Some(topics.parse().unwrap()), ..EndpointUpdate::default() }
}

fn url_update(url: &str) -> EndpointUpdate {
    EndpointUpdate { url: Some(url.into()), ..EndpointUpdate::default() }
}

#[tokio::test]
async fn a_host_may_have_its_own_topics_and_omit_others() {
    let webhooks = stores_in_memory().1;
    let admin = admin_without_key(&webhooks);
    let own = "garden.path.opened";
    let id = add_endpoint(&admin, "*").await.unwrap();
    let unknown = add_endpoint(&admin, own).await;
    assert!(matches!(unknown, Err(WebhookAdminError::UnknownTopic(_))));
    let unknown = admin.update(&id, topics(own), &BY).await;
    assert!(matches!(unknown, Err(WebhookAdminError::UnknownTopic(_))));
    let topic = Topic::from_static(own);
    let environment = Environment::default()
        .topic(topic, "A path was opened.", &())
        .omit_topics([Topic::POLL_VOTED]);
    let admin = self::admin(&webhooks, environment);
    let omitted = add_endpoint(&admin, "post.created,poll.voted").await;
    assert!(matches!(omitted, Err(WebhookAdminError::UnknownTopic(_))));
    let changed = admin.update(&id, topics(own), &BY).await.unwrap();
    assert_eq!(changed.topics.to_string(), own);
    assert_eq!(changed, find(&webhooks, &id).await, "with its new version");
    let missing = EndpointId::parse("whe_none").unwrap();
    let result = admin.update(&missing, topics("*"), &BY).await;
    assert!(matches!(result, Err(WebhookAdminError::EndpointNotFound)));
}

#[tokio::test]
async fn the_url_of_an_endpoint_is_stored_as_requests_use_it() {
    let webhooks = stores_in_memory().1;
    let admin = admin_without_key(&webhooks);
    let id = add_endpoint(&admin, "*").await.unwrap();
    for (url, expected) in [
        ("HTTPS:example.org\\hook/../ä", "https://example.org/%C3%A4"),
        ("https://8.8.2056:443/?a=ü", "https://8.8.8.8/?a=%C3%BC"),
        ("https://bücher.example", "https://xn--bcher-kva.example/"),
        ("https://example.org", "https://example.org"),
        ("https://example.org/", "https://example.org/"),
    ] {
        let new = NewEndpoint {
            url: url.into(),
            topics: "*".parse().unwrap(),
            owner: UserId::from(1),
            owner_name: None,
            secret: None,
        };
        let added = admin.add(new, &BY).await.unwrap().endpoint;
        assert_eq!(added.url, expected);
        admin.update(&id, url_update(url), &BY).await.unwrap();
        assert_eq!(find(&webhooks, &id).await.url, expected);
    }
}

#[tokio::test]
async fn a_change_keeps_omitted_values() {
    let webhooks = stores_in_memory().1;
    let admin = admin_without_key(&webhooks);
    let id = add_endpoint(&admin, "*").await.unwrap();
    let before = find(&webhooks, &id).await;
    let mut added = endpoint("A");
    added.id = id.clone();
    assert_eq!(before, added);
    let changes = EndpointUpdate {
        url: Some("https://other.example/".into()),
        owner: Some(UserId::from(2)),
        ..EndpointUpdate::default()
    };
    let changed = admin.update(&id, changes, &BY).await.unwrap();
    let mut expected = before;
    expected.url = "https://other.example/".into();
    expected.owner = UserId::from(2);
    expected.version += 1;
    assert_eq!(changed, expected);
    assert_eq!(changed, find(&webhooks, &id).await);
    let refused = admin.update(&id, url_update("http://127.0.0.1/"), &BY).await;
    assert!(matches!(refused, Err(WebhookAdminError::Address(_))));
    let unchanged = admin.update(&id, EndpointUpdate::default(), &BY).await;
    assert_eq!(unchanged.unwrap(), changed);
    let missing = EndpointId::parse("whe_none").unwrap();
    let result = admin.update(&missing, EndpointUpdate::default(), &BY).await;
    assert!(matches!(result, Err(WebhookAdminError::EndpointNotFound)));
    assert_eq!(changed, find(&webhooks, &id).await);
}

#[tokio::test]
async fn an_operation_without_effect_writes_nothing() {
    let (stores, webhooks) = stores_in_memory();
    let admin = admin_without_key(&webhooks);
    let id = add_endpoint(&admin, "*").await.unwrap();
    for _ in 0..2 {
        admin.set_enabled(&id, false, &BY).await.unwrap();
        let changes = topics("post.created");
        admin.update(&id, changes, &BY).await.unwrap();
        let unchanged = url_update("https://receiver.example/hook");
        let found = admin.update(&id, unchanged, &BY).await.unwrap();
        assert_eq!(found, find(&webhooks, &id).await);
        admin.reencrypt(&cipher(&[8; 16]), &BY).await.unwrap();
    }
    let all = AuditFilter { limit: 100, ..AuditFilter::default() };
    let entries = stores.audit.list(&all).await.unwrap();
    assert!(entries.iter().all(|record| record.count == 1 && record.entry.actor == BY));
    // The order of entries with the same time is arbitrary.
    let mut written: Vec<_> = entries
        .into_iter()
        .map(|AuditRecord { entry, .. }| (entry.action, entry.target, entry.details))
        .collect();
    written.sort();
    let endpoint = id.to_string();
    let key = cipher(&[8; 16]).key_id().to_string();
    let expected = [
        (
            AuditAction::ENDPOINT_ADDED,
            &endpoint,
            "owner #1; topics *; url https://receiver.example/hook",
        ),
        (AuditAction::ENDPOINT_DISABLED, &endpoint, ""),
        (AuditAction::ENDPOINT_UPDATED, &endpoint, "topics post.created"),
        (AuditAction::KEY_REPLACED, &key, "endpoints 1"),
    ]
    .map(|(action, target, details)| (action, target.clone(), details.to_owned()));
    assert_eq!(written, expected);
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_decoded_is_removed() {
    let webhooks = stores_in_memory().1;
    let calls = StoreInterceptor::default();
    let admin = admin_without_key(&calls.webhooks(&webhooks));
    let id = add_endpoint(&admin, "*").await.unwrap();
    calls.on_call(|method, _| match method {
        "endpoints.find" => Intervention::Fail,
        _ => Intervention::Proceed,
    });
    admin.remove(&id, &BY).await.unwrap();
    assert_eq!(webhooks.list_endpoints().await.unwrap(), []);
    let removed = admin.remove(&id, &BY).await;
    assert!(matches!(removed, Err(WebhookAdminError::EndpointNotFound)));
}

#[tokio::test]
async fn concurrent_changes_are_all_applied() {
    let webhooks = stores_in_memory().1;
    let calls = StoreInterceptor::default();
    let admin = admin_without_key(&calls.webhooks(&webhooks));
    let id = add_endpoint(&admin, "*").await.unwrap();
    let (barrier, reads) = (Arc::new(Barrier::new(3)), AtomicU32::new(0));
    // All changes read before one writes.
    calls.on_call(move |method, _| {
        if method != "endpoints.find" || reads.fetch_add(1, Ordering::Relaxed) >= 3 {
            return Intervention::Proceed;
        }
        let barrier = Arc::clone(&barrier);
        Intervention::DelayResult(Box::pin(async move {
            barrier.wait().await;
        }))
    });
    let (rotated, disabled, subscribed) = tokio::join!(
        admin.rotate(&id, &BY),
        admin.set_enabled(&id, false, &BY),
        admin.update(&id, topics("post.created"), &BY),
    );
    assert!(rotated.is_ok() && disabled.is_ok() && subscribed.is_ok());
    let found = find(&webhooks, &id).await;
    assert!(found.pending_secret.is_some() && !found.enabled);
    assert_eq!(found.topics.to_string(), "post.created");
}

#[tokio::test]
async fn all_dead_deliveries_of_an_endpoint_are_retried_in_batches() {
    const MANY: u32 = 1_100;
    let calls = StoreInterceptor::default();
    let webhooks = calls.webhooks(&stores_in_memory().1);
    let admin = admin_without_key(&webhooks);
    let id = add_endpoint(&admin, "*").await.unwrap();
    let other = add_endpoint(&admin, "*").await.unwrap();
    for _ in 0..MANY {
        admin.ping(&id).await.unwrap();
    }
    admin.ping(&other).await.unwrap();
    fail_all(&webhooks).await;
    let began = Instant::now();
    assert_eq!(admin.retry_dead(&id, &BY).await.unwrap(), u64::from(MANY));
    assert!(began.elapsed() >= Duration::from_millis(100), "a pause after each full batch");
    let calls = calls.take_counts()["deliveries.retry_dead"];
    assert_eq!(calls, 4, "500 in one call");
    let mut dead = DeliveryFilter::default();
    dead.state = Some(DeliveryState::Dead);
    dead.limit = u32::MAX;
    let left = webhooks.list_deliveries(&dead).await.unwrap();
    assert!(left.len() == 1 && left[0].0.endpoint_id == other);
    fail_all(&webhooks).await;
    let retried = admin.retry_all_dead(&BY).await.unwrap();
    assert_eq!(retried, u64::from(MANY) + 1);
    assert_eq!(webhooks.count_dead_deliveries(None).await.unwrap(), 0);
}

#[tokio::test]
async fn an_example_has_the_data_of_the_document_and_any_owner() {
    let webhooks = stores_in_memory().1;
    let own = Topic::parse("badge.given").unwrap();
    let environment = Environment::default().topic(own, "A badge was given.", &"gardener");
    let admin = admin(&webhooks, environment);
    let id = add_endpoint(&admin, "post.deleted").await.unwrap();
    for (topic, pointer, expected) in [
        ("post.created", "/data/post/postId", "69"),
        ("message.sent", "/data/message/messageId", "1"),
        ("member.rated", "/data/member/userId", "4"),
        ("badge.given", "/data", "gardener"),
    ] {
        let delivery = admin.example(&id, topic).await.unwrap();
        let (delivery, _) = webhooks.find_delivery(&delivery).await.unwrap().unwrap();
        assert_eq!(delivery.topic.as_str(), topic);
        let stored = webhooks.find_event(&delivery.event_id).await.unwrap().unwrap();
        let body: serde_json::Value = serde_json::from_str(&stored.body).unwrap();
        assert_eq!(body.pointer(pointer).unwrap(), expected, "{body}");
        assert_eq!(body["example"], true);
        assert!(body["requestId"].is_null() && stored.request_id.is_none());
        assert_eq!(body["event"], delivery.event_id.to_string());
    }
    for unknown in ["*", "post.liked", ""] {
        let refused = admin.example(&id, unknown).await;
        assert!(matches!(refused, Err(WebhookAdminError::UnknownTopic(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_attempt_is_awaited_longer_than_its_begin() {
    let (_, webhooks) = stores_in_memory();
    let admin = admin_without_key(&webhooks);
    let endpoint = add_endpoint(&admin, "*").await.unwrap();
    let id = admin.ping(&endpoint).await.unwrap();
    let awaited = async || {
        let [limit, sending_limit] = [1, 5].map(Duration::from_secs);
        admin.wait_for_attempt(&id, None, limit, sending_limit).await.unwrap()
    };
    assert_eq!(awaited().await, AwaitedAttempt::Waiting);
    let deliveries = webhooks.deliveries();
    let claims = deliveries.claim(&claim_request(1), after(0)).await.unwrap();
    assert_eq!(awaited().await, AwaitedAttempt::Waiting, "claimed");
    assert_eq!(deliveries.begin_sending(&claims.deliveries, after(0)).await.unwrap().len(), 1);
    assert_eq!(awaited().await, AwaitedAttempt::Sending);
    let [claimed] = &claims.deliveries[..] else { panic!() };
    let end = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let mut failed = claimed.delivery.progress;
        (failed.state, failed.attempts) = (DeliveryState::Retrying, 1);
        let settlement = Settlement::new(claimed, failed, Some(attempt_record(1)), after(1));
        assert_eq!(deliveries.settle(&[settlement], after(1)).await.unwrap().len(), 1);
    };
    let (ended, ()) = tokio::join!(awaited(), end);
    let AwaitedAttempt::Ended(report) = ended else { panic!("{ended:?}") };
    assert_eq!((report.state, report.last), (DeliveryState::Retrying, Some(attempt_record(1))));
    admin.remove_delivery(&id, &BY).await.unwrap();
    assert_eq!(awaited().await, AwaitedAttempt::Removed);
}

/// Makes all queued deliveries dead.
async fn fail_all(webhooks: &WebhookStores) {
    let all = claim_request(u32::MAX);
    let claims = webhooks.deliveries().claim(&all, after(10_000)).await.unwrap();
    for claimed in claims.deliveries {
        let mut dead = claimed.delivery.progress;
        (dead.state, dead.attempts, dead.due_at) = (DeliveryState::Dead, 6, None);
        let settlement = Settlement::new(&claimed, dead, None, after(10_001));
        let settled = webhooks.deliveries().settle(&[settlement], after(10_001)).await;
        assert_eq!(settled.unwrap().len(), 1);
    }
}

/// Creates an administration with or without a key.
fn admin_with_key(webhooks: &WebhookStores, key: Option<&[u8]>) -> WebhookAdmin {
    let environment = Environment::default();
    match key {
        Some(key) => admin(webhooks, environment.secret_cipher(Arc::new(cipher(key)))),
        None => admin(webhooks, environment),
    }
}

const OLD: Option<&[u8]> = Some(&[7; 16]);
const NEW: Option<&[u8]> = Some(&[8; 16]);

#[tokio::test]
async fn another_key_is_rejected_and_changes_nothing() {
    for (first, second) in [(OLD, NEW), (OLD, None), (None, OLD)] {
        let webhooks = stores_in_memory().1;
        let before = admin_with_key(&webhooks, first);
        let after = admin_with_key(&webhooks, second);
        before.check_key().await.unwrap();
        let added = add_endpoint(&after, "*").await;
        assert!(matches!(added, Err(WebhookAdminError::Key(_))), "{added:?}");
        let id = add_endpoint(&before, "*").await.unwrap();
        let recorded = webhooks.key_id().await.unwrap();
        let outcomes = [after.check_key().await, after.rotate(&id, &BY).await.map(drop)];
        for outcome in outcomes {
            let Err(WebhookAdminError::Key(mismatch)) = outcome else {
                panic!("{outcome:?}");
            };
            let id = |key: Option<_>| key.map_or_else(KeyId::plaintext, |key| cipher(key).key_id());
            assert_eq!((mismatch.stored, mismatch.given), (id(first), id(second)));
        }
        assert_eq!(webhooks.list_endpoints().await.unwrap().len(), 1);
        assert_eq!(webhooks.key_id().await.unwrap(), recorded);
        before.check_key().await.unwrap();
    }
}

#[tokio::test]
async fn all_secrets_are_encrypted_with_the_new_key() {
    for (former, new) in [(OLD, NEW), (None, NEW)] {
        let webhooks = stores_in_memory().1;
        let before = admin_with_key(&webhooks, former);
        let id = add_endpoint(&before, "*").await.unwrap();
        let rotated = before.rotate(&id, &BY).await.unwrap().secret;
        let cipher = cipher(new.unwrap());
        for call in 0..2 {
            let count = before.reencrypt(&cipher, &BY).await.unwrap();
            assert_eq!(count, 1, "call {call}");
            let endpoint = find(&webhooks, &id).await;
            let pending = endpoint.pending_secret.unwrap().secret;
            for (encrypted, expected) in [(endpoint.secret, &secret("A")), (pending, &rotated)] {
                let decrypted = cipher.decrypt(&encrypted, &id).unwrap();
                assert_eq!(decrypted.expose_secret(), expected.expose_secret());
            }
        }
        admin_with_key(&webhooks, new).check_key().await.unwrap();
        assert!(before.check_key().await.is_err());
    }
}

#[tokio::test]
async fn a_wrong_old_key_changes_nothing_and_a_lost_key_is_replaced_without_endpoints() {
    let webhooks = stores_in_memory().1;
    let first = admin_with_key(&webhooks, OLD);
    let id = add_endpoint(&first, "*").await.unwrap();
    let before = find(&webhooks, &id).await;
    for wrong in [None, Some([9; 16].as_slice())] {
        let admin = admin_with_key(&webhooks, wrong);
        let result = admin.reencrypt(&cipher(&[8; 16]), &BY).await;
        let is_rejected = matches!(result, Err(WebhookAdminError::Key(_)));
        assert!(is_rejected, "{result:?}");
    }
    assert_eq!(find(&webhooks, &id).await, before);
    admin_with_key(&webhooks, OLD).check_key().await.unwrap();
    let without = admin_without_key(&webhooks);
    without.remove(&id, &BY).await.unwrap();
    assert_eq!(without.reencrypt(&cipher(&[8; 16]), &BY).await.unwrap(), 0);
    admin_with_key(&webhooks, NEW).check_key().await.unwrap();
}

#[tokio::test]
async fn a_secret_is_not_stored_with_a_key_that_was_replaced_meanwhile() {
    let webhooks = stores_in_memory().1;
    let calls = StoreInterceptor::default();
    let admin = admin_with_key(&calls.webhooks(&webhooks), OLD);
    let id = add_endpoint(&admin, "*").await.unwrap();
    let other = admin_with_key(&webhooks, OLD);
    // Another process replaces the key after this one has checked it.
    calls.on_call(move |method, _| match method {
        "endpoints.find" | "endpoints.add" => {
            let other = other.clone();
            Intervention::Delay(Box::pin(async move {
                other.reencrypt(&cipher(&[8; 16]), &BY).await.unwrap();
            }))
        }
        _ => Intervention::Proceed,
    });
    let rotated = admin.rotate(&id, &BY).await;
    assert!(matches!(rotated, Err(WebhookAdminError::Key(_))), "{rotated:?}");
    assert_eq!(find(&webhooks, &id).await.pending_secret, None);
    // The same for a new endpoint.
    admin_with_key(&webhooks, NEW).reencrypt(&cipher(&[7; 16]), &BY).await.unwrap();
    let added = add_endpoint(&admin, "*").await;
    assert!(matches!(added, Err(WebhookAdminError::Key(_))), "{added:?}");
    assert_eq!(webhooks.list_endpoints().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_replacement_of_the_key_succeeds_although_another_one_follows_at_once() {
    for (former, endpoints) in [(OLD, 1), (OLD, 0), (None, 0)] {
        let webhooks = stores_in_memory().1;
        let calls = StoreInterceptor::default();
        let admin = admin_with_key(&calls.webhooks(&webhooks), former);
        for _ in 0..endpoints {
            add_endpoint(&admin, "*").await.unwrap();
        }
        let other = admin_with_key(&webhooks, NEW);
        calls.on_call(move |method, _| match method {
            "endpoints.replace_key" => {
                let other = other.clone();
                Intervention::DelayResult(Box::pin(async move {
                    other.reencrypt(&cipher(&[9; 16]), &BY).await.unwrap();
                }))
            }
            _ => Intervention::Proceed,
        });
        assert_eq!(admin.reencrypt(&cipher(&[8; 16]), &BY).await.unwrap(), endpoints);
        admin_with_key(&webhooks, Some(&[9; 16])).check_key().await.unwrap();
    }
}

/// The endpoint is added after the list was read and before the new key is recorded.
#[tokio::test]
async fn an_endpoint_that_is_added_while_the_key_is_replaced_is_encrypted_again() {
    let webhooks = stores_in_memory().1;
    let calls = StoreInterceptor::default();
    let admin = admin_with_key(&calls.webhooks(&webhooks), OLD);
    let other = admin_with_key(&webhooks, OLD);
    add_endpoint(&admin, "*").await.unwrap();
    calls.on_call(move |method, _| match method {
        "endpoints.replace_key" => {
            let other = other.clone();
            Intervention::Delay(Box::pin(async move {
                // After the key was replaced, no endpoint can be added with the former one.
                drop(add_endpoint(&other, "*").await);
            }))
        }
        _ => Intervention::Proceed,
    });
    let new = cipher(&[8; 16]);
    assert_eq!(admin.reencrypt(&new, &BY).await.unwrap(), 2);
    for endpoint in webhooks.list_endpoints().await.unwrap() {
        new.decrypt(&endpoint.secret, &endpoint.id).unwrap();
    }
}
