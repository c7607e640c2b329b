//! How a delivery comes to be.

use rusqlite::{Connection, Result, params};

use super::outbox::{fanned_out, put};
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::sqlite::run::{changes, first};
use crate::webhook::{Event, Progress};

pub(super) const QUEUE: &str = "
    INSERT INTO forum_api_deliveries
        (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT ?1, event.id, event.topic, endpoint.id, ?4, ?5, ?6, ?7
    FROM forum_api_events event CROSS JOIN forum_api_endpoints endpoint
    WHERE event.id = ?2 AND endpoint.id = ?3 AND endpoint.enabled
    ON CONFLICT (id) DO NOTHING";

pub(super) const IS_ENABLED: &str = "SELECT 1 FROM forum_api_endpoints WHERE id = ?1 AND enabled";

/// Queues the event for the endpoint as this delivery; whether that is there and enabled, and it was not queued before.
pub(super) fn queue(
    connection: &Connection,
    id: &DeliveryId,
    event: &EventId,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<bool> {
    let progress = Progress::queued(now);
    let row = params![
        id,
        event,
        endpoint,
        now,
        progress.state,
        progress.attempts,
        progress.due_at,
    ];
    changes(connection, QUEUE, row)
}

/// Adds an event for this endpoint alone; `None` when that is not there, or disabled.
pub(super) fn send(
    connection: &Connection,
    event: &Event,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<Option<DeliveryId>> {
    if first(connection, IS_ENABLED, [endpoint], |_| Ok(()))?.is_none() {
        return Ok(None);
    }
    if put(connection, event)? {
        fanned_out(connection, &event.id, now)?;
    }
    let id = DeliveryId::of(&event.id, endpoint);
    queue(connection, &id, &event.id, endpoint, now)?;
    Ok(Some(id))
}
