//! Outbox store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params, params_from_iter};

use super::SqliteWebhookStore;
use super::execute::{all, change, changes, first, lossy_text};
use super::rows::RowReader;
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::{
    FanOut, OutboxStore, Quarantine, QuarantinedEvent, decode_event, report_unreadable,
};
use crate::webhook::{DeliveryProgress, Event};

pub(super) const QUEUE: &str = include_str!("sql/enqueue.sql");

pub(super) const PENDING: &str = "
    SELECT * FROM forum_api_events WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
    ORDER BY occurred_at, number LIMIT ?1";

pub(super) const QUARANTINE: &str =
    "UPDATE forum_api_events SET quarantine_reason = ?2 WHERE number = ?1";

pub(super) const COUNT_QUARANTINED: &str = "
    SELECT count(*) AS count FROM (SELECT 1 FROM forum_api_events WHERE quarantine_reason IS NOT NULL LIMIT ?1)";

pub(super) const QUARANTINED: &str = "
    SELECT id, quarantine_reason FROM forum_api_events WHERE quarantine_reason IS NOT NULL
    ORDER BY number DESC LIMIT ?1";

pub(super) const BODY: &str = "SELECT body FROM forum_api_events WHERE id = ?1";

pub(super) const MARK_FANNED_OUT: &str = "
    UPDATE forum_api_events SET fanned_out_at = ?2 WHERE id = ?1 AND fanned_out_at IS NULL";

/// Deletes an event without deliveries.
pub(super) const DELETE: &str = "
    DELETE FROM forum_api_events
    WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE event = ?1)";

#[async_trait]
impl OutboxStore for SqliteWebhookStore {
    async fn insert(&self, event: &Event) -> BackendResult<()> {
        let event = event.clone();
        self.write(move |savepoint| insert(savepoint, &event).map(drop))
            .await
    }

    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let read = self.read(move |connection| all(connection, PENDING, [limit], read_row));
        let (mut events, mut unreadable) = (Vec::new(), Vec::new());
        for row in read.await? {
            match row.event {
                Ok(event) => events.push(event),
                Err(reason) => unreadable.push((row.number, row.id, reason)),
            }
        }
        if !unreadable.is_empty() {
            self.quarantine(unreadable).await?;
        }
        Ok(events)
    }

    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine> {
        self.read(move |connection| {
            let max_count = i64::try_from(Quarantine::MAX_COUNT).unwrap_or(i64::MAX);
            let count = |row: &Row<'_>| row.number("count");
            let count = first(connection, COUNT_QUARANTINED, [max_count], count)?;
            let latest = |row: &Row<'_>| {
                Ok(QuarantinedEvent {
                    id: lossy_text(row, "id")?,
                    reason: lossy_text(row, "quarantine_reason")?,
                })
            };
            Ok(Quarantine {
                count: count.unwrap_or_default(),
                latest: all(connection, QUARANTINED, [limit], latest)?,
            })
        })
        .await
    }

    async fn body(&self, id: &EventId) -> BackendResult<Option<String>> {
        let id = id.clone();
        self.read(move |connection| first(connection, BODY, [id], |row| lossy_text(row, "body")))
            .await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let events = events.to_vec();
        self.write(move |savepoint| {
            for event in &events {
                fan_out(savepoint, event, now)?;
            }
            Ok(())
        })
        .await
    }
}

impl SqliteWebhookStore {
    /// Quarantines events, each given by its number, its id and the reason.
    async fn quarantine(&self, unreadable: Vec<(i64, String, String)>) -> BackendResult<()> {
        let rows = unreadable.clone();
        let quarantine = self.write(move |savepoint| {
            for (number, _, reason) in &rows {
                change(savepoint, QUARANTINE, params![number, reason])?;
            }
            Ok(())
        });
        quarantine.await?;
        for (_, id, reason) in &unreadable {
            report_unreadable("events", id, reason);
        }
        Ok(())
    }
}

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
    let DeliveryProgress {
        state,
        attempts,
        due_at,
    } = DeliveryProgress::queued(now);
    let row = params![id, event, endpoint, now, state, attempts, due_at];
    changes(connection, QUEUE, row)
}

fn fan_out(connection: &Connection, fan_out: &FanOut, now: Timestamp) -> Result<()> {
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

/// A row of the outbox.
struct OutboxRow {
    number: i64,
    id: String,
    /// The event, or the reason why it cannot be decoded.
    event: std::result::Result<Event, String>,
}

fn read_row(row: &Row<'_>) -> Result<OutboxRow> {
    Ok(OutboxRow {
        number: row.get("number")?,
        id: lossy_text(row, "id")?,
        event: read_event(row),
    })
}

fn read_event(row: &Row<'_>) -> std::result::Result<Event, String> {
    let columns = || -> Result<_> {
        Ok((
            row.get_ref("id")?.as_str()?,
            row.get_ref("topic")?.as_str()?,
            row.get("occurred_at")?,
            row.get_ref("forum")?.as_str_or_null()?,
            row.get_ref("body")?.as_str()?,
        ))
    };
    let (id, topic, occurred_at, forum, body) = columns().map_err(|error| error.to_string())?;
    Ok(decode_event(id, topic, occurred_at, forum, body)?)
}
