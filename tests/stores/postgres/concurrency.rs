//! Concurrent nodes and transactions.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forum_api::host::BackendError;
use forum_api::model::{DeliveryId, EventId};
use forum_api::store::postgres::tokio_postgres_0_7::migrate;
use forum_api::store::{ClaimBatch, Settlement, WebhookStores};
use forum_api::test_util::audit_entry;
use forum_api::webhook::{DeliveryProgress, DeliveryState, Event};
use forum_test_support::postgres::{pool, schema};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;

use super::{Pool, tables, webhooks};
use crate::fixture::{DELIVERED, add, at, claim, claim_all, endpoint, event, fan_out, queue};

/// Inserts the event as a host does.
async fn insert(client: &impl tokio_postgres::GenericClient, event: &Event) {
    let texts = event.insert_parameters();
    let parameters: Vec<_> = texts.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
    client.execute(Event::INSERT_SQL, &parameters).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_committed_late_is_fanned_out() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    add(&webhooks, &[endpoint(1)]).await;
    let mut one = pool.get().await.unwrap();
    let mut other = pool.get().await.unwrap();
    let first = one.transaction().await.unwrap();
    insert(&*first, &event(1)).await;
    let second = other.transaction().await.unwrap();
    insert(&*second, &event(2)).await;
    second.commit().await.unwrap();

    assert_eq!(webhooks.outbox.pending(9).await.unwrap(), [event(2)]);
    let fan_out = |number| [fan_out(&event(number).id, &[endpoint(1)])];
    webhooks.outbox.fan_out(&fan_out(2), at(0)).await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(webhooks.outbox.pending(9).await.unwrap(), [event(1)]);
    webhooks.outbox.fan_out(&fan_out(1), at(0)).await.unwrap();
    assert_eq!(claim_all(&webhooks, at(0)).await.deliveries.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_skips_locked_deliveries() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let endpoints = [1, 2].map(endpoint);
    add(&webhooks, &endpoints).await;
    queue(&webhooks, (0..20).map(event), &endpoints).await;
    let mut other = pool.get().await.unwrap();
    let transaction = other.transaction().await.unwrap();
    let lock = "
        SELECT id FROM forum_api_deliveries WHERE endpoint = 'whe_1' ORDER BY due_at, id LIMIT 18
        FOR UPDATE";
    let rows = transaction.query(lock, &[]).await.unwrap();
    let locked: HashSet<String> = rows.iter().map(|row| row.get(0)).collect();

    let batch = webhooks.deliveries.claim(&claim(12, 6), at(0)).await;
    let ClaimBatch { deliveries, next_due_at } = batch.unwrap();
    let first = deliveries.iter().filter(|one| one.endpoint == endpoints[0]);
    assert_eq!((first.count(), deliveries.len()), (2, 8));
    let mut ids = deliveries.iter().map(|one| one.delivery.id.to_string());
    assert!(ids.all(|id| !locked.contains(&id)));
    assert_eq!(next_due_at, Some(at(0)), "locked deliveries are due");
}

const ROUNDS: u64 = 25;

/// Number of events of each round.
const EVENTS: u64 = 40;

/// Makes Postgres detect deadlocks after a short wait.
const SHORT_DEADLOCK_TIMEOUT: &str = "%20-cdeadlock_timeout%3D5ms";

/// Runs the operations of one worker in one round. All workers begin a round together.
async fn run_round(webhooks: &WebhookStores, worker: u64, round: u64) -> Result<(), BackendError> {
    let deliveries = &webhooks.deliveries;
    let endpoints = [1, 2, 3].map(endpoint);
    let numbers = round * EVENTS..(round + 1) * EVENTS;
    match worker % 4 {
        0 => insert_and_fan_out(webhooks, numbers, worker > 3).await?,
        1 => {
            let mut claimed = deliveries.claim(&claim(40, 20), at(0)).await?.deliveries;
            let rest = claimed.split_off(claimed.len() / 2);
            let states = [DeliveryState::Delivered, DeliveryState::Dead];
            let settle =
                |(one, state)| Settlement::new(one, DeliveryProgress { state, ..DELIVERED }, None);
            let settlements: Vec<_> =
                claimed.iter().zip(states.into_iter().cycle()).map(settle).collect();
            deliveries.settle(&settlements, at(0)).await?;
            deliveries.release(&rest, Duration::ZERO, at(0)).await?;
        }
        2 => {
            for number in numbers.rev() {
                let id = DeliveryId::derive(&event(number).id, &endpoints[0].id);
                deliveries.remove(&id, &audit_entry()).await?;
            }
            deliveries.sweep(at(1), 50).await?;
        }
        _ => {
            for number in numbers {
                let id = DeliveryId::derive(&event(number).id, &endpoints[1].id);
                deliveries.retry(&id, at(0), &audit_entry()).await?;
            }
            let ping = Event {
                id: EventId::parse(&format!("ping_{worker}_{round}")).unwrap(),
                ..event(0)
            };
            deliveries.enqueue(&ping, &endpoints[0].id, at(0)).await?;
            let gone = &endpoints[2];
            webhooks.endpoints.remove(&gone.id, &audit_entry()).await?;
            webhooks.endpoints.add(gone, &audit_entry()).await?;
        }
    }
    Ok(())
}

/// Inserts events, and fans them out in either order.
async fn insert_and_fan_out(
    webhooks: &WebhookStores,
    numbers: Range<u64>,
    backwards: bool,
) -> Result<(), BackendError> {
    for number in numbers.clone() {
        webhooks.outbox.insert(&event(number)).await?;
    }
    let endpoints = [1, 2, 3].map(endpoint);
    let mut fan_outs: Vec<_> =
        numbers.map(|number| fan_out(&event(number).id, &endpoints)).collect();
    if backwards {
        fan_outs.reverse();
    }
    webhooks.outbox.fan_out(&fan_outs, at(0)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_operations_do_not_deadlock() {
    let pool = pool(&format!("{}{SHORT_DEADLOCK_TIMEOUT}", schema().await), 16);
    migrate(&pool).await.unwrap();
    add(&webhooks(&pool), &[1, 2, 3].map(endpoint)).await;
    let barrier = Arc::new(Barrier::new(8));
    let workers = (0..8).map(|worker| {
        let webhooks = webhooks(&pool);
        let barrier = barrier.clone();
        async move {
            for round in 0..ROUNDS {
                barrier.wait().await;
                let done = run_round(&webhooks, worker, round).await;
                done.unwrap_or_else(|error| panic!("worker {worker} in round {round}: {error}"));
            }
        }
    });
    workers.collect::<JoinSet<_>>().join_all().await;
}

/// Returns the number of statements of the application that wait for a lock.
async fn waiting(pool: &Pool, name: &str) -> i64 {
    let waiting = "
        SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    let client = pool.get().await.unwrap();
    client.query_one(waiting, &[&name]).await.unwrap().get(0)
}

/// Statements that lock in different orders would deadlock.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_locked_in_the_order_of_their_ids() {
    let address = schema().await;
    let name = address.rsplit('D').next().unwrap();
    let address = format!("{address}{SHORT_DEADLOCK_TIMEOUT}&application_name={name}");
    let pool = pool(&address, 4);
    migrate(&pool).await.unwrap();
    let webhooks = webhooks(&pool);
    add(&webhooks, &[1, 2, 3].map(endpoint)).await;
    for number in 1..6 {
        webhooks.outbox.insert(&event(number)).await.unwrap();
    }
    let mut other = pool.get().await.unwrap();
    let transaction = other.transaction().await.unwrap();
    let lock = "SELECT FROM forum_api_events WHERE id = 'evt_3' FOR UPDATE";
    transaction.execute(lock, &[]).await.unwrap();

    let one = webhooks.clone();
    let another = webhooks.clone();
    let one = tokio::spawn(async move { insert_and_fan_out(&one, 1..6, false).await });
    let another = tokio::spawn(async move { insert_and_fan_out(&another, 1..6, true).await });
    let deadline = Instant::now() + Duration::from_secs(60);
    while waiting(&pool, name).await < 2 {
        assert!(Instant::now() < deadline, "no statement waits for a lock");
        tokio::task::yield_now().await;
    }
    transaction.commit().await.unwrap();
    one.await.unwrap().unwrap();
    another.await.unwrap().unwrap();
    assert_eq!(webhooks.outbox.pending(9).await.unwrap(), []);
}
