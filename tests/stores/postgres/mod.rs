//! The rules in Postgres, and what its stores promise beside.

use forum_test_support::postgres as database;

mod clock;
mod faults;
mod migration;
mod nodes;
mod order;
mod plans;
mod unreadable;
mod values;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::{Set, store_tests, stores::Keeper};
use forum_api::model::{EndpointId, EventId};
use forum_api::runtime::{Runtime, TokioRuntime};
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::postgres::{LeaseClock, Postgres, migrate};
use forum_api::store::{Claim, FanOut, Stores, Webhooks};
use forum_api::webhook::{Endpoint, Event};

use crate::backend::at;
use crate::webhooks as samples;
use database::{pool, schema, try_in_postgres};

/// Keeps each rule's stores in a schema of their own.
struct Schemas;

#[async_trait]
impl Keeper for Schemas {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        let pool = tables().await;
        Ok((Stores::in_postgres(&pool), webhooks(&pool)))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

store_tests!(Schemas, try_in_postgres);

/// Webhooks whose leases go by the times that a test passes.
fn webhooks(pool: &Pool) -> Webhooks {
    Webhooks::in_one(Postgres::new(pool.clone()).lease_clock(LeaseClock::Caller))
}

/// A few connections to empty tables.
async fn tables() -> Pool {
    let pool = pool(&schema().await, 16);
    migrate(&pool).await.unwrap();
    pool
}

/// As many pools on the same empty tables: a node each.
async fn nodes(count: usize) -> Vec<Pool> {
    let address = schema().await;
    let pools: Vec<_> = (0..count).map(|_| pool(&address, 4)).collect();
    migrate(&pools[0]).await.unwrap();
    pools
}

fn endpoint(number: u64) -> Endpoint {
    Endpoint {
        id: EndpointId::new(&format!("whe_{number}")).unwrap(),
        ..samples::endpoint()
    }
}

fn event(number: u64) -> Event {
    samples::event(&format!("evt_{number}"))
}

/// Adds these endpoints.
async fn add(webhooks: &Webhooks, endpoints: &[Endpoint]) {
    for endpoint in endpoints {
        assert!(webhooks.endpoints.add(endpoint).await.unwrap());
    }
}

fn to(event: &EventId, endpoints: &[Endpoint]) -> FanOut {
    FanOut {
        event: event.clone(),
        endpoints: endpoints.iter().map(|one| one.id.clone()).collect(),
    }
}

/// Queues these events for all endpoints.
async fn queue(webhooks: &Webhooks, events: impl Iterator<Item = Event>, endpoints: &[Endpoint]) {
    let mut fan_out = Vec::new();
    for event in events {
        webhooks.outbox.put(&event).await.unwrap();
        fan_out.push(to(&event.id, endpoints));
    }
    webhooks.outbox.fan_out(&fan_out, at(0)).await.unwrap();
}

fn room(room: u32, per_endpoint: u32) -> Claim {
    Claim {
        room,
        per_endpoint,
        running: HashMap::new(),
        lease: Duration::from_secs(60),
    }
}
