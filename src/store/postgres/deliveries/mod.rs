//! Statements about deliveries: an operation of [`Deliveries`](crate::store::Deliveries) each.
//!
//! Any number of nodes may run any of them at once, at the level `READ COMMITTED`, and none ever waits for one that
//! waits for it: who needs an event and its deliveries locks the event first, and who locks several of a kind does so in
//! the order of their ids, or passes over what another one holds.

mod backlog;
mod claim;
mod lists;
mod settle;
mod sweep;
mod usage;

pub use backlog::{backlog, counted};
pub use claim::{UnreadableDelivery, claim, claims};
pub use lists::{find, found, list};
pub use settle::{begin_sending, release, retry, retry_dead, settle, settled};
pub use sweep::{remove, sweep};
pub use usage::{usage, usage_of};

use super::lease_clock::clock;
use super::statement::statements;
use super::text::{if_any, time};
use super::{LeaseClock, Statement};
use crate::error::{Fault, Stored};
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::webhook::{Delivery, Event, Progress, State, Topic};

/// The columns of a delivery, as [`delivery`] reads them.
macro_rules! columns {
    () => {
        "delivery.id, delivery.event, delivery.topic, delivery.endpoint, delivery.created_at::TEXT,
    delivery.state, delivery.attempts::TEXT, delivery.due_at::TEXT"
    };
}

/// What a removed endpoint left is away.
macro_rules! is_there {
    () => {
        "EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)"
    };
}

use {columns, is_there};

/// How many columns a delivery has.
const COLUMNS: usize = 8;

statements! {
    /// Adds an event and its delivery to this endpoint alone: one row, the endpoint's id, or none when there is no such
    /// endpoint, or it is disabled.
    send(event: &Event, endpoint: &EndpointId, now: Timestamp, clock: LeaseClock) binds (
        sent(event, endpoint, clock.parameter(now))
    ) to concat!("WITH ", clock!("$8"), ", endpoint AS MATERIALIZED (
    SELECT id FROM forum_api_endpoints WHERE id = $7 AND enabled FOR KEY SHARE
), put AS (
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, body, fanned_out_at)
    SELECT $1, $2, $3::TEXT::BIGINT, NULLIF($4, ''), $5, now FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT $6, $1, $2, id, now, 'queued', 0, now FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
)
SELECT id FROM endpoint");
}

fn sent(event: &Event, endpoint: &EndpointId, now: String) -> Vec<String> {
    let to = [
        DeliveryId::of(&event.id, endpoint).to_string(),
        endpoint.to_string(),
        now,
    ];
    event.parameters().into_iter().chain(to).collect()
}

/// The delivery that a row of [`list`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn delivery(columns: &[&str]) -> Stored<Delivery> {
    read(columns).ok_or_else(|| Fault::new("a row of forum_api_deliveries holds no delivery"))
}

fn read(columns: &[&str]) -> Option<Delivery> {
    let [
        id,
        event,
        topic,
        endpoint,
        created_at,
        state,
        attempts,
        due_at,
    ] = columns
    else {
        return None;
    };
    Some(Delivery {
        id: DeliveryId::new(id)?,
        event: EventId::new(event)?,
        topic: Topic::new(topic)?,
        endpoint: EndpointId::new(endpoint)?,
        created_at: time(created_at)?,
        progress: Progress {
            state: State::new(state)?,
            attempts: attempts.parse().ok()?,
            due_at: if_any(due_at, time)?,
        },
    })
}
