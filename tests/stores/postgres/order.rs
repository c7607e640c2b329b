//! Whoever does whatever at once, nobody waits for somebody who waits for them.

use forum_api::host::Fault;
use forum_api::model::{DeliveryId, EventId};
use forum_api::store::Webhooks;
use forum_api::webhook::{Endpoint, Event, Progress, State};

use super::database::{pool, schema, try_in_postgres};
use super::{add, endpoint, event, room, to};
use crate::backend::at;

const ROUNDS: u64 = 60;

const EVENTS: u64 = 12;

/// Postgres looks for who waits for each other as soon as anybody waits for a moment.
const WATCHFUL: &str = "%20-cdeadlock_timeout%3D5ms";

/// What one of the workers does in its turn.
async fn turn(webhooks: &Webhooks, worker: u64, round: u64) -> Result<(), Fault> {
    let deliveries = &webhooks.deliveries;
    let endpoints = [1, 2, 3].map(endpoint);
    let some = event((worker + round) % EVENTS).id;
    let id = DeliveryId::of(&some, &endpoints[(round % 3) as usize].id);
    match worker % 4 {
        0 => {
            for number in 0..EVENTS {
                webhooks.outbox.put(&event(number)).await?;
            }
            let mut all: Vec<_> = (0..EVENTS)
                .map(|number| to(&event(number).id, &endpoints))
                .collect();
            if worker > 3 {
                all.reverse();
            }
            webhooks.outbox.fan_out(&all, at(0)).await?;
        }
        1 => {
            let mut claimed = deliveries.claim(&room(6, 4), at(0)).await?.taken;
            let rest = claimed.split_off(claimed.len() / 2);
            for (one, state) in claimed
                .iter()
                .zip([State::Delivered, State::Dead].iter().cycle())
            {
                let over = Progress {
                    state: *state,
                    attempts: 1,
                    due_at: None,
                };
                deliveries.settle(one, &over, None, at(0)).await?;
            }
            deliveries.release(&rest, at(0)).await?;
        }
        2 => {
            deliveries.remove(&id).await?;
            deliveries.sweep(at(1), 5).await?;
        }
        _ => {
            deliveries.retry(&id, at(0)).await?;
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

#[test]
fn nobody_waits_for_ever() {
    try_in_postgres(async {
        let pool = pool(&format!("{}{WATCHFUL}", schema().await), 16);
        forum_api::store::postgres::migrate(&pool).await.unwrap();
        add(&Webhooks::in_postgres(&pool), &[1, 2, 3].map(endpoint)).await;
        let workers = (0..8).map(|worker| {
            let webhooks = Webhooks::in_postgres(&pool);
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    turn(&webhooks, worker, round).await.unwrap();
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
    });
}
