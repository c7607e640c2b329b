//! Fan-out of events.

use rusqlite::{Connection, params, params_from_iter};

use super::execute::{Result, change, changes};
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::FanOut;
use crate::webhook::Event;

const QUEUE: &str = include_str!("sql/enqueue.sql");

const MARK_FANNED_OUT: &str = "
    UPDATE forum_api_events SET fanned_out_at = ?2 WHERE id = ?1 AND fanned_out_at IS NULL";

/// Deletes an event without deliveries.
const DELETE: &str = "
    DELETE FROM forum_api_events
    WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE event = ?1)";

/// Returns `true` if the event is new.
pub(super) fn insert(connection: &Connection, event: &Event) -> Result<bool> {
    let parameters = params_from_iter(event.insert_parameters());
    changes(connection, Event::INSERT_SQL, parameters)
}

/// Returns `true` if the event was pending until now.
pub(super) fn mark_fanned_out(
    connection: &Connection,
    id: &EventId,
    now: Timestamp,
) -> Result<bool> {
    changes(connection, MARK_FANNED_OUT, params![id, now])
}

/// Queues a delivery. Returns `false` if the endpoint does not exist or is disabled, or the delivery was queued before.
pub(super) fn queue(
    connection: &Connection,
    event: &EventId,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<bool> {
    let id = DeliveryId::derive(event, endpoint);
    changes(connection, QUEUE, params![id, event, endpoint, now])
}

pub(super) fn fan_out(connection: &Connection, fan_out: &FanOut, now: Timestamp) -> Result<()> {
    if !mark_fanned_out(connection, &fan_out.event_id, now)? {
        return Ok(());
    }
    let mut queued = false;
    for endpoint_id in &fan_out.endpoint_ids {
        queued |= queue(connection, &fan_out.event_id, endpoint_id, now)?;
    }
    if !queued {
        change(connection, DELETE, [&fan_out.event_id])?;
    }
    Ok(())
}
