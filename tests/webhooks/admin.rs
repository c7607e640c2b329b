//! Administration of endpoints, and the change from one key to another.

use std::sync::Arc;

use forum_api::Environment;
use forum_api::model::{EndpointId, UserId};
use forum_api::runtime::{Entropy, Inline, ManualClock, NoEntropy, SystemEntropy};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Claim, Filter, Settlement, Webhooks};
use forum_api::test_util::StoreInterceptor;
use forum_api::webhook::{Endpoint, KeyId, Outcome, SecretBox as _, State, Topic};
use forum_api::webhook_admin::{Declined, Registration, Registry};

use crate::sample::{after, secret};
use crate::secret::cipher;
use crate::wire::Names;

/// The same bytes each time.
#[derive(Debug)]
struct Stuck;

impl Entropy for Stuck {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        bytes.fill(7);
        Ok(())
    }
}

fn registry(webhooks: &Webhooks, entropy: impl Entropy) -> Registry {
    let environment = Environment::new(Inline)
        .clock(Arc::new(ManualClock::at(after(0))))
        .random(Arc::new(entropy));
    Registry::new(webhooks.clone(), environment).resolver(Names::leading_to(&["93.184.215.14"]))
}

fn wanted(topics: &str) -> Registration {
    Registration {
        url: "https://receiver.example/hook".into(),
        topics: topics.parse().unwrap(),
        owner: UserId::from(1),
        secret: None,
    }
}

async fn registered(registry: &Registry) -> EndpointId {
    registry.register(wanted("*")).await.unwrap().endpoint.id
}

#[tokio::test]
async fn an_endpoint_whose_id_is_taken_is_not_added() {
    let webhooks = Webhooks::in_memory();
    let registry = registry(&webhooks, Stuck);
    registered(&registry).await;
    let again = registry.register(wanted("post.created")).await;
    assert!(matches!(again, Err(Declined::Failed(_))));
    assert_eq!(webhooks.endpoints.all().await.unwrap().len(), 1);
}

#[tokio::test]
async fn topics_are_changed_and_a_host_has_its_own() {
    let webhooks = Webhooks::in_memory();
    let registry = registry(&webhooks, SystemEntropy);
    let own = "garden.gate.opened";
    let unknown = registry.register(wanted(own)).await;
    assert!(matches!(unknown, Err(Declined::Topic(_))));
    let id = registered(&registry).await;
    let unknown = registry.subscribe(&id, own.parse().unwrap()).await;
    assert!(matches!(unknown, Err(Declined::Topic(_))));
    let registry = registry.topics(vec![Topic::new(own).unwrap()]);
    registry.subscribe(&id, own.parse().unwrap()).await.unwrap();
    let found = webhooks.endpoints.find(&id).await.unwrap().unwrap();
    assert_eq!(found.topics.to_string(), own);
    let absent = EndpointId::new("whe_none").unwrap();
    let refused = registry.subscribe(&absent, "*".parse().unwrap()).await;
    assert!(matches!(refused, Err(Declined::NoSuchEndpoint)));
}

#[tokio::test]
async fn a_change_returns_the_version_that_is_stored() {
    let webhooks = Webhooks::in_memory();
    let registry = registry(&webhooks, SystemEntropy);
    let id = registered(&registry).await;
    let changed = registry.enable(&id, false).await.unwrap();
    let found = webhooks.endpoints.find(&id).await.unwrap().unwrap();
    assert_eq!(changed, found);
    assert!(webhooks.endpoints.update(&changed).await.unwrap());
}

#[tokio::test]
async fn concurrent_changes_are_all_made() {
    // Reads and writes run on separate threads, so that all changes read before one writes.
    let database = Database::open(&Location::Memory).unwrap();
    let webhooks = Webhooks::in_sqlite(&database);
    let registry = registry(&webhooks, SystemEntropy);
    let id = registered(&registry).await;
    let (rotated, disabled, subscribed) = tokio::join!(
        registry.rotate(&id),
        registry.enable(&id, false),
        registry.subscribe(&id, "post.created".parse().unwrap()),
    );
    rotated.unwrap();
    disabled.unwrap();
    subscribed.unwrap();
    let found = webhooks.endpoints.find(&id).await.unwrap().unwrap();
    assert!(found.pending.is_some() && !found.enabled);
    assert_eq!(found.topics.to_string(), "post.created");
}

#[tokio::test]
async fn all_dead_deliveries_of_an_endpoint_are_retried_in_batches() {
    const MANY: u32 = 1_100;
    let calls = StoreInterceptor::default();
    let webhooks = calls.webhooks(&Webhooks::in_memory());
    let registry = registry(&webhooks, SystemEntropy);
    let (id, other) = (registered(&registry).await, registered(&registry).await);
    for _ in 0..MANY {
        registry.ping(&id).await.unwrap();
    }
    registry.ping(&other).await.unwrap();
    fail_all(&webhooks).await;
    calls.take_counts();
    assert_eq!(registry.retry_dead(&id).await.unwrap(), u64::from(MANY));
    let counts = calls.take_counts();
    assert_eq!(
        counts["deliveries.retry_dead"], 4,
        "500 in one step: {counts:?}"
    );
    let dead = Filter {
        state: Some(State::Dead),
        limit: u32::MAX,
        ..Filter::default()
    };
    let left = webhooks.deliveries.list(&dead).await.unwrap();
    assert!(left.len() == 1 && left[0].endpoint == other);
}

/// Lets the last attempt of each queued delivery fail.
async fn fail_all(webhooks: &Webhooks) {
    let claim = Claim {
        room: u32::MAX,
        per_endpoint: u32::MAX,
        running: [].into(),
        lease: std::time::Duration::from_secs(60),
    };
    for claimed in webhooks
        .deliveries
        .claim(&claim, after(0))
        .await
        .unwrap()
        .taken
    {
        let mut progress = claimed.delivery.progress;
        progress.attempts = 5;
        let dead = progress.after(Outcome::Unanswered, &Default::default(), after(1), 0.0);
        let settlement = Settlement::new(&claimed, dead, None);
        let settled = webhooks.deliveries.settle(&[settlement], after(1)).await;
        assert!(settled.unwrap().contains(&claimed.delivery.id));
    }
}

/// A registry with this key, or without one.
fn registry_with_key(webhooks: &Webhooks, key: Option<&[u8]>) -> Registry {
    let environment = Environment::new(Inline);
    let environment = match key {
        Some(key) => environment.secrets(Arc::new(cipher(key))),
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
        let before = registry_with_key(&webhooks, first);
        let id = register(&before, "A").await.unwrap();
        let recorded = webhooks.endpoints.key_id().await.unwrap();
        let after = registry_with_key(&webhooks, second);
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
    registry_with_key(&webhooks, OLD).check_key().await.unwrap();
    let added = register(&registry_with_key(&webhooks, None), "A").await;
    let Err(Declined::Key(mismatch)) = added else {
        panic!("{added:?}");
    };
    assert_eq!(mismatch.stored, cipher(&[7; 16]).key_id());
    assert_eq!(mismatch.given, KeyId::plaintext());
}

#[tokio::test]
async fn all_secrets_are_encrypted_with_the_new_key() {
    for (former, new) in [(OLD, NEW), (None, NEW)] {
        let webhooks = Webhooks::in_memory();
        let before = registry_with_key(&webhooks, former);
        let (one, rotated) = (
            register(&before, "A").await.unwrap(),
            register(&before, "B").await.unwrap(),
        );
        let pending = before.rotate(&rotated).await.unwrap().secret;
        let cipher = cipher(new.unwrap());
        assert_eq!(before.reencrypt(&cipher).await.unwrap(), 2);
        for (id, letter) in [(&one, "A"), (&rotated, "B")] {
            let opened = cipher.open(&stored(&webhooks, id).await.secret, id);
            assert_eq!(opened.unwrap().reveal(), secret(letter).reveal());
        }
        let sealed = stored(&webhooks, &rotated).await.pending.unwrap().secret;
        let opened = cipher.open(&sealed, &rotated).unwrap();
        assert_eq!(opened.reveal(), pending.reveal());
        registry_with_key(&webhooks, new).check_key().await.unwrap();
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
    let id = register(&registry_with_key(&webhooks, OLD), "A")
        .await
        .unwrap();
    let before = stored(&webhooks, &id).await;
    for wrong in [None, Some([9; 16].as_slice())] {
        let outcome = registry_with_key(&webhooks, wrong)
            .reencrypt(&cipher(&[8; 16]))
            .await;
        assert!(matches!(outcome, Err(Declined::Key(_))), "{outcome:?}");
    }
    assert_eq!(stored(&webhooks, &id).await, before);
    registry_with_key(&webhooks, OLD).check_key().await.unwrap();
}

#[tokio::test]
async fn after_a_lost_key_a_store_without_endpoints_takes_a_new_one() {
    let webhooks = Webhooks::in_memory();
    let lost = registry_with_key(&webhooks, OLD);
    let id = register(&lost, "A").await.unwrap();
    let without = registry_with_key(&webhooks, None);
    assert!(without.reencrypt(&cipher(&[8; 16])).await.is_err());
    without.remove(&id).await.unwrap();
    assert_eq!(without.reencrypt(&cipher(&[8; 16])).await.unwrap(), 0);
    registry_with_key(&webhooks, NEW).check_key().await.unwrap();
}
