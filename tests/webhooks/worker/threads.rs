//! Two workers on a multi-threaded runtime.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::Environment;
use forum_api::runtime::{Clock as _, SystemClock, TokioRuntime};
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{DeliveryFilter, WebhookStores};
use forum_api::test_util::{audit_entry, stores_in_memory};
use forum_api::webhook::{DeliveryState, Topic};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::fixture::{endpoint, event, seconds};
use super::owners::FakeAuthorizer;
use super::transport::{FakeTransport, Reply};

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
const EVENTS: i64 = 50;
const DELIVERIES: usize = NAMES.len() * EVENTS as usize;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_workers_send_each_delivery_once() {
    let memory = stores_in_memory().1;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forum.db");
    let file = DatabasePath::File { path, create: true };
    let open = |()| WebhookStores::in_sqlite(&Database::open(&file).unwrap());
    share([memory.clone(), memory]).await;
    share([(); 2].map(open)).await;
}

/// Both workers respect their limits, and each delivery is sent once.
async fn share(each: [WebhookStores; 2]) {
    let now = SystemClock.now();
    let [stores, _] = &each;
    for name in NAMES {
        let added = stores
            .endpoints
            .add(&endpoint(name, now), &audit_entry())
            .await;
        assert!(added.unwrap());
    }
    let workers = each.each_ref().map(worker);
    for number in 0..EVENTS {
        let event = event(number, &Topic::POST_CREATED, Some(1), now);
        stores.outbox.insert(&event).await.unwrap();
        workers.iter().for_each(|(handle, _)| handle.wake());
    }
    timeout(seconds(60), all_delivered(stores)).await.unwrap();
    let mut ids = HashSet::new();
    for (handle, transport) in &workers {
        timeout(seconds(60), handle.stop()).await.unwrap();
        assert!(handle.health().stopped);
        let (for_one, total) = transport.max_in_flight();
        assert!(for_one <= 4 && total <= 16, "{for_one} {total}");
        for sent in transport.sent() {
            assert!(ids.insert(sent.header("x-forum-delivery").to_owned()));
        }
    }
    assert_eq!(ids.len(), DELIVERIES);
}

fn worker(stores: &WebhookStores) -> (WorkerHandle, FakeTransport) {
    let transport = FakeTransport::new(Arc::new(SystemClock), TokioRuntime);
    for name in NAMES {
        transport.set_replies(name, [Reply::Delayed(Duration::from_millis(1), 204)]);
    }
    let owners = Arc::new(FakeAuthorizer::new(TokioRuntime));
    let mut settings = WorkerSettings::default();
    settings.max_in_flight = 16;
    let worker = Worker::builder(
        stores.clone(),
        owners,
        transport.clone(),
        &Environment::default(),
    )
    .settings(settings)
    .build()
    .unwrap();
    (worker.start(), transport)
}

async fn all_delivered(stores: &WebhookStores) {
    let delivered = DeliveryFilter {
        state: Some(DeliveryState::Delivered),
        limit: u32::MAX,
        ..DeliveryFilter::default()
    };
    while stores.deliveries.list(&delivered).await.unwrap().len() < DELIVERIES {
        yield_now().await;
    }
}
