//! Several nodes on one database at once.

use std::collections::HashSet;
use std::sync::Arc;

use forum_api::model::{DeliveryId, Timestamp};
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::{Attempt, Begin, Claimed, Entry, Settlement, Stores};
use forum_api::webhook::{Event, Progress, State};
use tokio::sync::Barrier;
use tokio_postgres::types::ToSql;

use super::database::try_in_postgres;
use super::{add, endpoint, event, nodes, queue, room, tables, to, webhooks};
use crate::backend::{at, lookup};

const DELIVERED: Progress = Progress {
    state: State::Delivered,
    attempts: 1,
    due_at: None,
};

/// Writes the event as a host does.
async fn insert(client: &impl tokio_postgres::GenericClient, event: &Event) {
    let parameters = event.parameters();
    let parameters = parameters.iter().map(|text| text as &(dyn ToSql + Sync));
    let parameters: Vec<_> = parameters.collect();
    client.execute(Event::INSERT, &parameters).await.unwrap();
}

#[test]
fn an_event_that_was_numbered_first_and_committed_last_is_fanned_out() {
    try_in_postgres(async {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        add(&webhooks, &[endpoint(1)]).await;
        let (mut one, mut other) = (pool.get().await.unwrap(), pool.get().await.unwrap());
        let first = one.transaction().await.unwrap();
        insert(&*first, &event(1)).await;
        let second = other.transaction().await.unwrap();
        insert(&*second, &event(2)).await;
        second.commit().await.unwrap();

        assert_eq!(webhooks.outbox.waiting(9).await.unwrap(), [event(2)]);
        let fan_out = |number| [to(&event(number).id, &[endpoint(1)])];
        webhooks.outbox.fan_out(&fan_out(2), at(0)).await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(webhooks.outbox.waiting(9).await.unwrap(), [event(1)]);
        webhooks.outbox.fan_out(&fan_out(1), at(0)).await.unwrap();
        let claims = webhooks.deliveries.claim(&room(9, 9), at(0)).await.unwrap();
        assert_eq!(claims.taken.len(), 2);
    });
}

/// Claims and settles until nothing is left; what was claimed.
async fn work(pool: Pool, together: Arc<Barrier>) -> Vec<DeliveryId> {
    let deliveries = webhooks(&pool).deliveries;
    let mut done = Vec::new();
    together.wait().await;
    loop {
        let claims = deliveries.claim(&room(7, 3), at(1)).await.unwrap();
        let due = |next: Timestamp| next <= at(1);
        if claims.taken.is_empty() && !claims.next.is_some_and(due) {
            return done;
        }
        let to = |number| {
            claims
                .taken
                .iter()
                .filter(move |one| one.endpoint == endpoint(number))
        };
        assert!((0..4).all(|number| to(number).count() <= 3));
        for claimed in claims.taken {
            let settlement = Settlement::new(&claimed, DELIVERED, None);
            let settled = deliveries.settle(&[settlement], at(1)).await.unwrap();
            done.extend(settled);
        }
    }
}

#[test]
fn no_two_workers_ever_have_the_same_delivery() {
    try_in_postgres(async {
        let nodes = nodes(6).await;
        let webhooks = webhooks(&nodes[0]);
        let endpoints = [0, 1, 2, 3].map(endpoint);
        add(&webhooks, &endpoints).await;
        queue(&webhooks, (0..100).map(event), &endpoints).await;
        let together = Arc::new(Barrier::new(nodes.len()));
        let workers = nodes
            .iter()
            .map(|pool| tokio::spawn(work(pool.clone(), together.clone())));
        let mut done = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            done.extend(worker.await.unwrap());
        }
        let each: HashSet<_> = done.iter().collect();
        assert_eq!((done.len(), each.len()), (400, 400));
    });
}

/// What a claim finds while another one holds the first ones.
#[test]
fn a_worker_goes_round_what_another_one_holds() {
    try_in_postgres(async {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        let endpoints = [1, 2].map(endpoint);
        add(&webhooks, &endpoints).await;
        queue(&webhooks, (0..20).map(event), &endpoints).await;
        let mut other = pool.get().await.unwrap();
        let holds = other.transaction().await.unwrap();
        let hold = "
            SELECT id FROM forum_api_deliveries WHERE endpoint = 'whe_1' ORDER BY due_at, id LIMIT 18
            FOR UPDATE";
        let held = holds.query(hold, &[]).await.unwrap();
        let held: HashSet<String> = held.iter().map(|row| row.get(0)).collect();

        let claims = webhooks
            .deliveries
            .claim(&room(12, 6), at(0))
            .await
            .unwrap();
        let of = |one: &Claimed| one.endpoint == endpoints[0];
        let first = claims.taken.iter().filter(|one| of(one)).count();
        assert_eq!((first, claims.taken.len()), (2, 8));
        assert!(
            claims
                .taken
                .iter()
                .all(|one| !held.contains(&one.delivery.id.to_string()))
        );
        assert_eq!(claims.next, Some(at(0)), "what is held is due");
    });
}

#[test]
fn of_nodes_that_begin_with_one_key_at_once_one_is_the_first() {
    try_in_postgres(async {
        let nodes = nodes(3).await;
        let day = i64::try_from(Entry::LIFE.as_millis()).unwrap();
        // New keys, and then the same, which are over.
        for now in [0, day] {
            for key in 0..20 {
                let attempt = Attempt {
                    token: lookup(1),
                    key: key.to_string(),
                    request: [1; 32],
                };
                let begins = nodes.iter().cycle().take(12).map(|pool| {
                    let idempotency = Stores::in_postgres(pool).idempotency;
                    let attempt = attempt.clone();
                    tokio::spawn(async move { idempotency.begin(&attempt, at(now)).await.unwrap() })
                });
                let mut firsts = 0;
                for begin in begins.collect::<Vec<_>>() {
                    match begin.await.unwrap() {
                        Begin::First(_) => firsts += 1,
                        said => assert_eq!(said, Begin::Running),
                    }
                }
                assert_eq!(firsts, 1, "{key} at {now}");
            }
        }
    });
}
