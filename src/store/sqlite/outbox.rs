//! Fan-out of events, and their removal from the feed.

use std::time::Duration;

use rusqlite::{Connection, params, params_from_iter};

use super::execute::{Result, change, changes};
use crate::model::{CLOCK_TOLERANCE, DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::FanOut;
use crate::webhook::Event;

const QUEUE: &str = include_str!("sql/enqueue.sql");

const MARK_FANNED_OUT: &str = "
    UPDATE forum_api_events SET fanned_out_at = ?2 WHERE id = ?1 AND fanned_out_at IS NULL";

/// A trigger deletes an event without deliveries.
const REMOVE_FROM_FEED: &str =
    "UPDATE forum_api_events SET in_feed = FALSE WHERE id = ?1 AND in_feed";

const SWEEP: &str = include_str!("sql/sweep_feed.sql");

/// Sets the fan-outs after `?2` at the beginning of the feed to `?1`.
const CORRECT_FAN_OUTS: &str = "
    UPDATE forum_api_events SET fanned_out_at = ?1 WHERE fanned_out_at > ?2 AND number IN (
        SELECT number FROM forum_api_events WHERE in_feed ORDER BY position, number LIMIT ?3
    )";

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

/// Queues a delivery, unless the endpoint does not exist or is disabled, or the delivery was queued before.
pub(super) fn queue(
    connection: &Connection,
    event: &EventId,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<()> {
    let id = DeliveryId::derive(event, endpoint);
    change(connection, QUEUE, params![id, event, endpoint, now]).map(drop)
}

pub(super) fn fan_out(connection: &Connection, fan_out: &FanOut, now: Timestamp) -> Result<()> {
    if !mark_fanned_out(connection, &fan_out.event_id, now)? {
        return Ok(());
    }
    for endpoint_id in &fan_out.endpoint_ids {
        queue(connection, &fan_out.event_id, endpoint_id, now)?;
    }
    if !fan_out.stays_in_feed {
        remove_from_feed(connection, &fan_out.event_id)?;
    }
    Ok(())
}

/// Removes an event from the feed, and deletes it if it has no deliveries.
pub(super) fn remove_from_feed(connection: &Connection, id: &EventId) -> Result<()> {
    change(connection, REMOVE_FROM_FEED, [id]).map(drop)
}

pub(super) fn sweep_feed(
    connection: &Connection,
    retention: Duration,
    now: Timestamp,
    limit: u32,
) -> Result<u64> {
    let before = now.saturating_sub(retention);
    let latest = now.saturating_add(CLOCK_TOLERANCE);
    change(connection, CORRECT_FAN_OUTS, params![now, latest, limit])?;
    Ok(change(connection, SWEEP, params![before, limit])? as u64)
}
