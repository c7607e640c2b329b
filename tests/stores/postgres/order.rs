//! Whoever does whatever at once, nobody waits for somebody who waits for them.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::Fault;
use forum_api::model::{DeliveryId, EventId};
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::postgres::migrate;
use forum_api::store::{Settlement, Webhooks};
use forum_api::webhook::{Endpoint, Event, Progress, State};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::database::{pool, schema, try_in_postgres};
use super::{add, endpoint, event, room, to, webhooks};
use crate::backend::at;

const ROUNDS: u64 = 25;

/// How many events there are in each.
const EVENTS: u64 = 40;

/// Postgres looks for who waits for each other as soon as anybody waits for a moment.
const WATCHFUL: &str = "%20-cdeadlock_timeout%3D5ms";

/// What one of the workers does in its turn, which all begin together.
async fn turn(webhooks: &Webhooks, worker: u64, round: u64) -> Result<(), Fault> {
    let deliveries = &webhooks.deliveries;
    let endpoints = [1, 2, 3].map(endpoint);
    let numbers = round * EVENTS..(round + 1) * EVENTS;
    match worker % 4 {
        0 => fan_out(webhooks, numbers, worker > 3).await?,
        1 => {
            let mut claimed = deliveries.claim(&room(40, 20), at(0)).await?.taken;
            let rest = claimed.split_off(claimed.len() / 2);
            let states = [State::Delivered, State::Dead].into_iter().cycle();
            let over = |state| Progress {
                state,
                attempts: 1,
                due_at: None,
            };
            let settlements = claimed.iter().zip(states);
            let settlements =
                settlements.map(|(one, state)| Settlement::new(one, over(state), None));
            deliveries
                .settle(&settlements.collect::<Vec<_>>(), at(0))
                .await?;
            deliveries.release(&rest, Duration::ZERO, at(0)).await?;
        }
        2 => {
            for number in numbers.rev() {
                let id = DeliveryId::of(&event(number).id, &endpoints[0].id);
                deliveries.remove(&id).await?;
            }
            deliveries.sweep(at(1), 50).await?;
        }
        _ => {
            for number in numbers {
                let id = DeliveryId::of(&event(number).id, &endpoints[1].id);
                deliveries.retry(&id, at(0)).await?;
            }
            let ping = Event {
                id: EventId::new(&format!("ping_{worker}_{round}")).unwrap(),
                ..event(0)
            };
            deliveries.send(&ping, &endpoints[0].id, at(0)).await?;
            let gone: &Endpoint = &endpoints[2];
            webhooks.endpoints.remove(&gone.id).await?;
            webhooks.endpoints.add(gone).await?;
        }
    }
    Ok(())
}

/// One goes through the events from the first on, the other one from the last on.
async fn fan_out(webhooks: &Webhooks, numbers: Range<u64>, backwards: bool) -> Result<(), Fault> {
    for number in numbers.clone() {
        webhooks.outbox.put(&event(number)).await?;
    }
    let endpoints = [1, 2, 3].map(endpoint);
    let mut all: Vec<_> = numbers
        .map(|number| to(&event(number).id, &endpoints))
        .collect();
    if backwards {
        all.reverse();
    }
    webhooks.outbox.fan_out(&all, at(0)).await
}

#[test]
fn nobody_waits_for_ever() {
    try_in_postgres(async {
        let pool = pool(&format!("{}{WATCHFUL}", schema().await), 16);
        migrate(&pool).await.unwrap();
        add(&webhooks(&pool), &[1, 2, 3].map(endpoint)).await;
        let together = Arc::new(Barrier::new(8));
        let workers = (0..8).map(|worker| {
            let (webhooks, together) = (webhooks(&pool), together.clone());
            async move {
                for round in 0..ROUNDS {
                    together.wait().await;
                    let done = turn(&webhooks, worker, round).await;
                    done.unwrap_or_else(|fault| {
                        panic!("worker {worker} in round {round}: {fault}")
                    });
                }
            }
        });
        workers.collect::<JoinSet<_>>().join_all().await;
    });
}

/// How many statements of that address wait for a lock.
async fn waiting(pool: &Pool, name: &str) -> i64 {
    let waiting = "
        SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    let client = pool.get().await.unwrap();
    client.query_one(waiting, &[&name]).await.unwrap().get(0)
}

/// Two that were each in the middle of the other's events would wait for ever.
#[test]
fn events_are_locked_in_one_order_whatever_order_they_come_in() {
    try_in_postgres(async {
        let address = schema().await;
        let name = address.rsplit('D').next().unwrap();
        let pool = pool(&format!("{address}{WATCHFUL}&application_name={name}"), 4);
        migrate(&pool).await.unwrap();
        let webhooks = webhooks(&pool);
        add(&webhooks, &[1, 2, 3].map(endpoint)).await;
        for number in 1..6 {
            webhooks.outbox.put(&event(number)).await.unwrap();
        }
        let mut other = pool.get().await.unwrap();
        let holds = other.transaction().await.unwrap();
        let hold = "SELECT FROM forum_api_events WHERE id = 'evt_3' FOR UPDATE";
        holds.execute(hold, &[]).await.unwrap();

        let (one, another) = (webhooks.clone(), webhooks.clone());
        let one = tokio::spawn(async move { fan_out(&one, 1..6, false).await });
        let another = tokio::spawn(async move { fan_out(&another, 1..6, true).await });
        while waiting(&pool, name).await < 2 {
            tokio::task::yield_now().await;
        }
        holds.commit().await.unwrap();
        one.await.unwrap().unwrap();
        another.await.unwrap().unwrap();
        assert_eq!(webhooks.outbox.waiting(9).await.unwrap(), []);
    });
}
