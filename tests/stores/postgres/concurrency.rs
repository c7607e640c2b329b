//! Concurrent nodes and transactions.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forum_api::host::BackendError;
use forum_api::model::{DeliveryId, EventId, UserId};
use forum_api::store::postgres::tokio_postgres_0_7::migrate;
use forum_api::store::{ClaimBatch, ClaimRequest, FanOut, FeedPosition, Settlement, WebhookStores};
use forum_api::test_util::audit_entry;
use forum_api::webhook::{DeliveryState, Event};
use forum_test_support::postgres::{pool, schema};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;

use super::{Pool, stores, tables, webhooks};
use crate::fixture::{
    TEST_TIMEOUT, add, at, claim, claim_all, ended, endpoint, event, fan_out, lookup, queue,
};

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

    assert_eq!(webhooks.pending_events(9).await.unwrap(), [event(2)]);
    let fan_out = |number| [fan_out(&event(number).id, &[endpoint(1)])];
    webhooks.outbox().fan_out(&fan_out(2), at(0)).await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(webhooks.pending_events(9).await.unwrap(), [event(1)]);
    webhooks.outbox().fan_out(&fan_out(1), at(0)).await.unwrap();
    assert_eq!(claim_all(&webhooks, at(0)).await.deliveries.len(), 2);
}

/// Returns the ids of all events of the feed.
async fn feed(webhooks: &WebhookStores) -> Vec<EventId> {
    let reader = UserId::from(1);
    let read = webhooks.feed().read(FeedPosition::START, &reader, 99).await.unwrap();
    read.entries.into_iter().map(|entry| entry.id).collect()
}

/// Reads the feed until it has this number of events: transactions of other tests can delay them.
async fn wait_for_feed(webhooks: &WebhookStores, count: usize) -> Vec<EventId> {
    loop {
        let ids = feed(webhooks).await;
        if ids.len() >= count {
            return ids;
        }
    }
}

/// A transaction that began earlier and commits later than another one: no event is read before it.
#[tokio::test(flavor = "multi_thread")]
async fn the_feed_waits_for_an_event_that_is_committed_late() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    for (commits, expected) in [(true, vec![1, 2, 3]), (false, vec![1, 2, 3, 5])] {
        let mut one = pool.get().await.unwrap();
        let mut other = pool.get().await.unwrap();
        let base = if commits { 0 } else { 3 };
        let late = one.transaction().await.unwrap();
        insert(&*late, &event(base + 1)).await;
        let before = feed(&webhooks).await;
        let early = other.transaction().await.unwrap();
        insert(&*early, &event(base + 2)).await;
        early.commit().await.unwrap();
        assert_eq!(feed(&webhooks).await, before, "the late event has an earlier position");
        if commits {
            insert(&*late, &event(base + 3)).await;
            late.commit().await.unwrap();
        } else {
            late.rollback().await.unwrap();
        }
        let ids = wait_for_feed(&webhooks, expected.len()).await;
        let sorted: BTreeSet<_> = ids.iter().cloned().collect();
        let expected: BTreeSet<_> = expected.into_iter().map(|number| event(number).id).collect();
        assert_eq!((ids.len(), sorted), (expected.len(), expected));
    }
}

/// A transaction of another database of the cluster hides events as well.
#[tokio::test]
async fn an_event_that_an_open_transaction_hides_stays_in_the_feed() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let mut one = pool.get().await.unwrap();
    let open = one.transaction().await.unwrap();
    open.execute("SELECT pg_current_xact_id()", &[]).await.unwrap();
    webhooks.insert_event(&event(1)).await.unwrap();
    let in_feed = FanOut { stays_in_feed: true, ..fan_out(&event(1).id, &[]) };
    webhooks.outbox().fan_out(&[in_feed], at(0)).await.unwrap();
    assert!(feed(&webhooks).await.is_empty());
    assert_eq!(webhooks.feed().sweep(Duration::ZERO, at(9), 9).await.unwrap(), 0);
    open.commit().await.unwrap();
    assert_eq!(wait_for_feed(&webhooks, 1).await, [event(1).id]);
    assert_eq!(webhooks.feed().sweep(Duration::ZERO, at(9), 9).await.unwrap(), 1);
    assert!(feed(&webhooks).await.is_empty());
}

/// A transaction that began earlier, but changes a row after another one has committed its change of the row: the order of
/// the feed is the order of the changes.
#[tokio::test(flavor = "multi_thread")]
async fn the_feed_has_changes_of_one_row_in_their_order() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let mut one = pool.get().await.unwrap();
    one.batch_execute("CREATE TABLE item (id INTEGER PRIMARY KEY, value INTEGER); INSERT INTO item VALUES (1, 0), (2, 0)")
        .await
        .unwrap();
    let mut other = pool.get().await.unwrap();
    let waits = one.transaction().await.unwrap();
    waits.execute("UPDATE item SET value = 1 WHERE id = 2", &[]).await.unwrap();
    let first = other.transaction().await.unwrap();
    first.execute("UPDATE item SET value = 1 WHERE id = 1", &[]).await.unwrap();
    let (updated, ()) =
        tokio::join!(waits.execute("UPDATE item SET value = 2 WHERE id = 1", &[]), async {
            insert(&*first, &event(1)).await;
            first.commit().await.unwrap();
        });
    updated.unwrap();
    insert(&*waits, &event(2)).await;
    waits.commit().await.unwrap();
    let ids = wait_for_feed(&webhooks, 2).await;
    assert_eq!(ids, [1, 2].map(|number| event(number).id));
}

/// The feed after a restore in a cluster whose counter lies between the positions of the restored events: readers see the
/// restored events in their order while some of them have moved, and then those of this cluster.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_another_cluster_move_before_those_of_this_one() {
    const RESTORED: u64 = 12_000;
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let client = pool.get().await.unwrap();
    let restore = format!(
        "INSERT INTO forum_api_events (id, topic, occurred_at, body, position)
        SELECT 'evt_' || i, 'post.created', 0, '{{}}',
            CASE WHEN i <= 3000 THEN i / 50 ELSE 4611686018427387904 - i / 50 END
        FROM generate_series(1, {RESTORED}) AS restored (i)"
    );
    client.batch_execute(&restore).await.unwrap();
    insert(&**client, &event(RESTORED + 1)).await;
    let mut numbers: Vec<_> = (1..=RESTORED).collect();
    numbers.sort_by_key(|number| {
        let place = number.cast_signed() / 50;
        if *number <= 3000 { (0, place) } else { (1, -place) }
    });
    let expected: Vec<_> =
        numbers.into_iter().chain([RESTORED + 1]).map(|number| event(number).id).collect();
    let reader = UserId::from(1);
    let mut after = FeedPosition::START;
    let mut read = Vec::new();
    let count_shown = async || webhooks.feed().latest(&reader, 30_000).await.unwrap().len();
    for count in [0, 5_000, 10_000, 12_000, 12_001] {
        // The last event waits for other transactions of the cluster.
        while count > 12_000 && count_shown().await < count {}
        assert_eq!(count_shown().await, count);
        let page = webhooks.feed().read(after, &reader, 30_000).await.unwrap();
        read.extend(page.entries.into_iter().map(|entry| entry.id));
        assert_eq!(read, expected[..count]);
        if let Some(last) = read.last() {
            after = webhooks.feed().find(last, at(0)).await.unwrap().unwrap().position;
        }
        let swept = webhooks.feed().sweep(Duration::ZERO, at(0), 9).await.unwrap();
        assert_eq!(swept, if count <= 12_000 { 9 } else { 0 }, "{count}");
    }
}

/// The positions of two restores in a row.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_two_other_clusters_keep_their_order() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let client = pool.get().await.unwrap();
    let restored = |count: u64, position: i64| {
        format!("UPDATE forum_api_events SET position = {position} + number WHERE number = {count}")
    };
    let mut expected = Vec::new();
    for (number, position) in [(1, 4611686018427387000), (2, 4000000000000000000)] {
        insert(&**client, &event(number)).await;
        client.execute(&restored(number, position), &[]).await.unwrap();
        expected.push(event(number).id);
        while webhooks.feed().sweep(Duration::ZERO, at(0), 9).await.unwrap() > 0 {}
        assert_eq!(feed(&webhooks).await, expected);
    }
}

/// Workers that move at the same time move each event once.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_moves_keep_the_order() {
    let pool = tables().await;
    let webhooks = webhooks(&pool);
    let client = pool.get().await.unwrap();
    client
        .batch_execute(
            "INSERT INTO forum_api_events (id, topic, occurred_at, body, position)
            SELECT 'evt_' || i, 'post.created', 0, '{}', 4611686018427387904
            FROM generate_series(1, 12000) AS restored (i)",
        )
        .await
        .unwrap();
    let expected: Vec<_> = (1..=12_000).map(|number| event(number).id).collect();
    let mut sweeps = JoinSet::new();
    for _ in 0..4 {
        let webhooks = webhooks.clone();
        sweeps.spawn(async move {
            for _ in 0..8 {
                webhooks.feed().sweep(Duration::ZERO, at(0), 9).await.unwrap();
            }
        });
    }
    sweeps.join_all().await;
    while webhooks.feed().sweep(Duration::ZERO, at(0), 9).await.unwrap() > 0 {}
    let read = webhooks.feed().read(FeedPosition::START, &UserId::from(1), 30_000).await.unwrap();
    let ids: Vec<_> = read.entries.into_iter().map(|entry| entry.id).collect();
    assert!(ids == expected, "{} events in another order", ids.len());
}

/// Writers of two nodes with transactions of different lengths, and readers that go on from their last events.
#[tokio::test(flavor = "multi_thread")]
async fn readers_of_the_feed_get_each_event_of_all_nodes_once() {
    const WRITERS: u64 = 16;
    const EVENTS: u64 = 60;
    let pool = pool(&schema().await, 24);
    migrate(&pool).await.unwrap();
    let webhooks = webhooks(&pool);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let pool = pool.clone();
        writers.spawn(async move {
            let mut client = pool.get().await.unwrap();
            for number in 0..EVENTS {
                let transaction = client.transaction().await.unwrap();
                insert(&*transaction, &event(writer * EVENTS + number)).await;
                for _ in 0..(writer * 7 + number) % 5 {
                    transaction.execute("SELECT 1", &[]).await.unwrap();
                }
                transaction.commit().await.unwrap();
            }
        });
    }
    let mut readers = JoinSet::new();
    for limit in [3, 50, 1000] {
        let webhooks = webhooks.clone();
        readers.spawn(async move {
            let reader = UserId::from(1);
            let mut position = FeedPosition::START;
            let mut read = Vec::new();
            while (read.len() as u64) < WRITERS * EVENTS {
                let page = webhooks.feed().read(position, &reader, limit).await.unwrap();
                if let Some(last) = page.entries.last() {
                    position =
                        webhooks.feed().find(&last.id, at(0)).await.unwrap().unwrap().position;
                }
                read.extend(page.entries.into_iter().map(|entry| entry.id));
            }
            read
        });
    }
    let fan_out_all = async {
        let mut count = 0;
        while count < WRITERS * EVENTS {
            let pending = webhooks.pending_events(100).await.unwrap();
            let fan_outs: Vec<_> = pending
                .iter()
                .map(|event| FanOut { stays_in_feed: true, ..fan_out(&event.id, &[]) })
                .collect();
            webhooks.outbox().fan_out(&fan_outs, at(0)).await.unwrap();
            count += fan_outs.len() as u64;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), fan_out_all).await.unwrap();
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    while let Some(read) = readers.join_next().await {
        let read = read.unwrap();
        let distinct: HashSet<_> = read.iter().collect();
        assert_eq!((read.len(), distinct.len()), (960, 960));
    }
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

    let batch = webhooks.deliveries().claim(&claim(12, 6), at(0)).await;
    let ClaimBatch { deliveries, next_due_at } = batch.unwrap();
    let first = deliveries.iter().filter(|one| one.endpoint == endpoints[0]);
    assert_eq!((first.count(), deliveries.len()), (2, 8));
    let mut ids = deliveries.iter().map(|one| one.delivery.id.to_string());
    assert!(ids.all(|id| !locked.contains(&id)));
    assert_eq!(next_due_at, Some(at(0)), "locked deliveries are due");
}

/// Locked deliveries are not replaced by those of an endpoint that is slow or failing, which would exceed their limit.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_replaces_no_locked_delivery_by_one_of_an_impaired_endpoint() {
    for impaired in ["is_slow = TRUE", "failing_since = 0"] {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        let endpoints = [1, 2].map(endpoint);
        add(&webhooks, &endpoints).await;
        queue(&webhooks, (0..20).map(event), &endpoints).await;
        let mut other = pool.get().await.unwrap();
        let update = format!("UPDATE forum_api_endpoints SET {impaired} WHERE id = 'whe_2'");
        other.batch_execute(&update).await.unwrap();
        let transaction = other.transaction().await.unwrap();
        let lock = "
            SELECT FROM forum_api_deliveries WHERE endpoint = 'whe_1' ORDER BY due_at, id LIMIT 18
            FOR UPDATE";
        transaction.execute(lock, &[]).await.unwrap();
        let request = ClaimRequest { max_impaired: 1, ..claim(12, 6) };
        let batch = webhooks.deliveries().claim(&request, at(0)).await.unwrap();
        let count = |number| {
            let here = batch.deliveries.iter();
            here.filter(|one| one.endpoint.id == endpoint(number).id).count()
        };
        assert_eq!([1, 2].map(count), [2, 1], "{impaired}");
    }
}

/// A removal neither waits for a delivery that another transaction queues again nor removes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_and_a_purge_skip_locked_deliveries() {
    for is_purge in [false, true] {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        let endpoints = [endpoint(1)];
        add(&webhooks, &endpoints).await;
        queue(&webhooks, (0..3).map(event), &endpoints).await;
        let claimed = claim_all(&webhooks, at(0)).await.deliveries;
        let delivered = DeliveryState::Delivered;
        let settle = |one| Settlement::new(one, ended(delivered), None, at(0));
        let settlements: Vec<_> = claimed.iter().map(settle).collect();
        let deliveries = webhooks.deliveries();
        let settled = deliveries.settle(&settlements, at(0)).await;
        assert_eq!(settled.unwrap().len(), 3);
        let id = &claimed[0].delivery.id;
        let mut other = pool.get().await.unwrap();
        let transaction = other.transaction().await.unwrap();
        let retry = "
            UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = 0, ended_at = NULL
            WHERE id = $1";
        assert_eq!(transaction.execute(retry, &[&id.to_string()]).await.unwrap(), 1);

        let audit = audit_entry();
        let remove = async {
            if is_purge {
                deliveries.purge(delivered, Duration::ZERO, at(1), 9, &audit).await
            } else {
                deliveries.sweep(Duration::ZERO, at(1), 9).await
            }
        };
        let removed = tokio::time::timeout(TEST_TIMEOUT, remove).await;
        assert_eq!(removed.expect("a removal that does not wait").unwrap(), 2);
        transaction.commit().await.unwrap();
        assert!(webhooks.find_delivery(id).await.unwrap().is_some());
    }
}

const ROUNDS: u64 = 25;

/// Number of events of each round.
const EVENTS: u64 = 40;

/// Makes Postgres detect deadlocks after a short wait.
const SHORT_DEADLOCK_TIMEOUT: &str = "%20-cdeadlock_timeout%3D5ms";

/// Runs the operations of one worker in one round. All workers begin a round together.
async fn run_round(webhooks: &WebhookStores, worker: u64, round: u64) -> Result<(), BackendError> {
    let deliveries = webhooks.deliveries();
    let endpoints = [1, 2, 3].map(endpoint);
    let numbers = round * EVENTS..(round + 1) * EVENTS;
    match worker % 4 {
        0 => insert_and_fan_out(webhooks, numbers, worker > 3).await?,
        1 => {
            let mut claimed = deliveries.claim(&claim(40, 20), at(0)).await?.deliveries;
            let rest = claimed.split_off(claimed.len() / 2);
            let states = [DeliveryState::Delivered, DeliveryState::Dead];
            let settle = |(one, state)| Settlement::new(one, ended(state), None, at(0));
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
            deliveries.sweep(Duration::ZERO, at(1), 50).await?;
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
            webhooks.endpoints().remove(&gone.id, &audit_entry()).await?;
            webhooks.endpoints().add(gone, &audit_entry()).await?;
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
        webhooks.insert_event(&event(number)).await?;
    }
    let endpoints = [1, 2, 3].map(endpoint);
    let mut fan_outs: Vec<_> =
        numbers.map(|number| fan_out(&event(number).id, &endpoints)).collect();
    if backwards {
        fan_outs.reverse();
    }
    webhooks.outbox().fan_out(&fan_outs, at(0)).await
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

/// Returns a pool whose connections have an application name of their own, and this name.
async fn named_pool() -> (Pool, String) {
    let address = schema().await;
    let name = address.rsplit('D').next().unwrap().to_owned();
    let address = format!("{address}{SHORT_DEADLOCK_TIMEOUT}&application_name={name}");
    let pool = pool(&address, 4);
    migrate(&pool).await.unwrap();
    (pool, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_delivery_is_queued_for_an_endpoint_that_is_being_removed() {
    for is_fan_out in [false, true] {
        let (pool, name) = named_pool().await;
        let webhooks = webhooks(&pool);
        add(&webhooks, &[endpoint(1)]).await;
        webhooks.insert_event(&event(1)).await.unwrap();
        let mut other = pool.get().await.unwrap();
        let transaction = other.transaction().await.unwrap();
        let remove = "DELETE FROM forum_api_endpoints WHERE id = 'whe_1'";
        assert_eq!(transaction.execute(remove, &[]).await.unwrap(), 1);
        let stores = webhooks.clone();
        let queuing = tokio::spawn(async move {
            if is_fan_out {
                let recipients = [fan_out(&event(1).id, &[endpoint(1)])];
                stores.outbox().fan_out(&recipients, at(0)).await.unwrap();
            } else {
                let id = endpoint(1).id;
                let queued = stores.deliveries().enqueue(&event(0), &id, at(0)).await;
                assert_eq!(queued.unwrap(), None);
            }
        });
        while waiting(&pool, &name).await == 0 {
            assert!(!queuing.is_finished(), "the removal is not awaited");
            tokio::task::yield_now().await;
        }
        transaction.commit().await.unwrap();
        queuing.await.unwrap();
        add(&webhooks, &[endpoint(1)]).await;
        assert_eq!(claim_all(&webhooks, at(0)).await.deliveries, []);
    }
}

/// Statements that lock in different orders would deadlock.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_locked_in_the_order_of_their_ids() {
    let (pool, name) = named_pool().await;
    let webhooks = webhooks(&pool);
    add(&webhooks, &[1, 2, 3].map(endpoint)).await;
    for number in 1..6 {
        webhooks.insert_event(&event(number)).await.unwrap();
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
    while waiting(&pool, &name).await < 2 {
        assert!(Instant::now() < deadline, "no statement waits for a lock");
        tokio::task::yield_now().await;
    }
    transaction.commit().await.unwrap();
    one.await.unwrap().unwrap();
    another.await.unwrap().unwrap();
    assert_eq!(webhooks.pending_events(9).await.unwrap(), []);
}

/// Notes the setting of each change of a token or a delivery.
const NOTE_SETTING: &str = "
    INSERT INTO forum_api_tokens (lookup, digest, owner, label, scopes, created_at)
    VALUES ('0000000000000007', '', '1', '', '[]', 0);
    CREATE TABLE noted (number SERIAL, setting TEXT);
    CREATE FUNCTION note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO noted (setting) VALUES (current_setting('synchronous_commit'));
        RETURN NULL;
    END $$;
    CREATE TRIGGER note AFTER UPDATE ON forum_api_tokens FOR EACH ROW EXECUTE FUNCTION note();
    CREATE TRIGGER note AFTER UPDATE ON forum_api_deliveries FOR EACH ROW EXECUTE FUNCTION note();";

/// A lost use or claim has no effect, so their commits do not wait for the disk. A lost start of sending would repeat an
/// attempt.
#[tokio::test(flavor = "multi_thread")]
async fn uses_of_tokens_and_claims_do_not_wait_for_the_disk() {
    let pool = tables().await;
    let tokens = stores(&pool).tokens;
    let webhooks = webhooks(&pool);
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;
    let client = pool.get().await.unwrap();
    client.batch_execute(NOTE_SETTING).await.unwrap();
    tokens.record_use(&lookup(7), at(0)).await.unwrap();
    assert!(tokens.set_label(&lookup(7), "x", &audit_entry()).await.unwrap());
    let claimed = claim_all(&webhooks, at(0)).await.deliveries;
    let begun = webhooks.deliveries().begin_sending(&claimed, at(1)).await.unwrap();
    assert_eq!(begun.len(), 1);
    let noted = client.query("SELECT setting FROM noted ORDER BY number", &[]).await.unwrap();
    let settings: Vec<String> = noted.iter().map(|row| row.get(0)).collect();
    assert_eq!(settings, ["off", "on", "off", "on"]);
}
