//! The outbox in SQLite.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params, params_from_iter};

use super::{SqliteWebhooks, queue};
use crate::host::Stored;
use crate::model::{DeliveryId, EventId, Timestamp};
use crate::store::sqlite::run::{all, change, changes};
use crate::store::{FanOut, Outbox};
use crate::webhook::Event;

pub(super) const WAITING: &str = "
    SELECT * FROM forum_api_events WHERE fanned_out_at IS NULL ORDER BY occurred_at, number LIMIT ?1";

pub(super) const FANNED_OUT: &str = "
    UPDATE forum_api_events SET fanned_out_at = ?2 WHERE id = ?1 AND fanned_out_at IS NULL";

/// What goes to nobody is not kept.
pub(super) const FORGET: &str = "
    DELETE FROM forum_api_events
    WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE event = ?1)";

#[async_trait]
impl Outbox for SqliteWebhooks {
    async fn put(&self, event: &Event) -> Stored<()> {
        let event = event.clone();
        self.write(move |savepoint| put(savepoint, &event).map(drop))
            .await
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        self.read(move |connection| all(connection, WAITING, [limit], event))
            .await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
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

/// Whether the event was not there.
pub(super) fn put(connection: &Connection, event: &Event) -> Result<bool> {
    let parameters = params_from_iter(event.parameters());
    changes(connection, Event::INSERT, parameters)
}

/// Whether the event waited until now.
pub(super) fn fanned_out(connection: &Connection, id: &EventId, now: Timestamp) -> Result<bool> {
    changes(connection, FANNED_OUT, params![id, now])
}

fn fan_out(connection: &Connection, fan_out: &FanOut, now: Timestamp) -> Result<()> {
    if !fanned_out(connection, &fan_out.event, now)? {
        return Ok(());
    }
    let mut queued = false;
    for endpoint in &fan_out.endpoints {
        let id = DeliveryId::of(&fan_out.event, endpoint);
        queued |= queue::queue(connection, &id, &fan_out.event, endpoint, now)?;
    }
    if !queued {
        change(connection, FORGET, [&fan_out.event])?;
    }
    Ok(())
}

fn event(row: &Row<'_>) -> Result<Event> {
    Ok(Event {
        id: row.get("id")?,
        topic: row.get("topic")?,
        occurred_at: row.get("occurred_at")?,
        forum: row.get("forum")?,
        body: row.get("body")?,
    })
}
