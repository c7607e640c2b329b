//! What an operator does with endpoints, in process.

use forum_api::Environment;
use forum_api::runtime::Inline;
use std::sync::Arc;

use forum_api::model::{EndpointId, UserId};
use forum_api::runtime::{Entropy, ManualClock, NoEntropy, SystemEntropy};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Claim, Filter, Settlement, Webhooks};
use forum_api::webhook::{Outcome, State, Topic};
use forum_api::webhook_admin::{Declined, Registration, Registry};

use crate::sample::after;
use crate::wire::Names;
use crate::worker::stores::Counted;

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
async fn what_was_not_added_is_not_said_to_be() {
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
    let nobody = registry.subscribe(&absent, "*".parse().unwrap()).await;
    assert!(matches!(nobody, Err(Declined::NoSuchEndpoint)));
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
async fn changes_at_once_are_all_made() {
    // Where a look and a change wait for a thread each, all look before one changes.
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
async fn all_dead_ones_are_retried_however_many() {
    const MANY: u32 = 1_100;
    let counted = Counted::new(Webhooks::in_memory());
    let webhooks = Webhooks::in_one(counted.clone());
    let registry = registry(&webhooks, SystemEntropy);
    let (id, other) = (registered(&registry).await, registered(&registry).await);
    for _ in 0..MANY {
        registry.ping(&id).await.unwrap();
    }
    registry.ping(&other).await.unwrap();
    die(&webhooks).await;
    counted.take_counts();
    assert_eq!(registry.retry_dead(&id).await.unwrap(), u64::from(MANY));
    let counts = counted.take_counts();
    assert_eq!(counts["retry_dead"], 4, "500 in one step: {counts:?}");
    let dead = Filter {
        state: Some(State::Dead),
        limit: u32::MAX,
        ..Filter::default()
    };
    let left = webhooks.deliveries.list(&dead).await.unwrap();
    assert!(left.len() == 1 && left[0].endpoint == other);
}

/// Lets the last attempt of whatever is queued fail.
async fn die(webhooks: &Webhooks) {
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
