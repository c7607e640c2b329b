//! Outbox store.

use async_trait::async_trait;

use super::{
    ColumnResult, Columns, SqlExecutor, SqlStore, Statement, read_event, report_unreadable,
};
use crate::error::BackendResult;
use crate::model::{EventId, Timestamp};
use crate::store::{FanOut, OutboxStore, Quarantine, QuarantinedEvent, StoredEvent};
use crate::webhook::Event;

const PENDING: &str = "
    SELECT number, id, topic, occurred_at, forum, request_id, body FROM forum_api_events
    WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
    ORDER BY occurred_at, number LIMIT ?1";

/// Events have numbers because an id that is not UTF-8 cannot be a parameter.
const QUARANTINE: &str = "
    UPDATE forum_api_events SET quarantine_reason = ?2, in_feed = FALSE WHERE number = ?1 AND fanned_out_at IS NULL";

const COUNT_QUARANTINED: &str = "
    SELECT count(*) AS count FROM (
        SELECT 1 FROM forum_api_events WHERE quarantine_reason IS NOT NULL LIMIT ?1
    ) AS few";

const QUARANTINED: &str = "
    SELECT id, quarantine_reason FROM forum_api_events WHERE quarantine_reason IS NOT NULL
    ORDER BY number DESC LIMIT ?1";

const FIND: &str = "
    SELECT body, coalesce(request_id, '') AS request_id FROM forum_api_events WHERE id = ?1";

#[async_trait]
impl<E: SqlExecutor> OutboxStore for SqlStore<E> {
    async fn insert(&self, event: &Event) -> BackendResult<()> {
        let values = event.insert_parameters().into_iter().map(Into::into);
        let insert = Statement::new(Event::INSERT_SQL, values);
        self.0.change(insert).await.map(drop)
    }

    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let pending = Statement::new(PENDING, [limit.into()]);
        let mut events = Vec::new();
        for row in self.0.query(pending, read_row).await? {
            match row.event {
                Ok(event) => events.push(event),
                Err(reason) => {
                    let values = [row.number.into(), reason.as_str().into()];
                    self.0.change(Statement::new(QUARANTINE, values)).await?;
                    report_unreadable("events", &row.id, &reason);
                }
            }
        }
        Ok(events)
    }

    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine> {
        let max_count = i64::try_from(Quarantine::MAX_COUNT).unwrap_or(i64::MAX);
        let select = Statement::new(COUNT_QUARANTINED, [max_count.into()]);
        let count = self.first(select, |row| row.value("count")).await?;
        let latest = Statement::new(QUARANTINED, [limit.into()]);
        let read = |row: &dyn Columns| {
            Ok(QuarantinedEvent {
                id: row.lossy_text("id")?,
                reason: row.lossy_text("quarantine_reason")?,
            })
        };
        Ok(Quarantine {
            count: count.unwrap_or_default(),
            latest: self.0.query(latest, read).await?,
        })
    }

    async fn find(&self, id: &EventId) -> BackendResult<Option<StoredEvent>> {
        let find = Statement::new(FIND, [id.into()]);
        self.first(find, |row| {
            let request_id = row.lossy_text("request_id")?;
            Ok(StoredEvent {
                body: row.lossy_text("body")?,
                request_id: Some(request_id).filter(|id| !id.is_empty()),
            })
        })
        .await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        self.0.fan_out(events, now).await
    }
}

/// A row of the outbox.
struct OutboxRow {
    number: i64,
    id: String,
    /// The event, or the reason why it cannot be decoded.
    event: Result<Event, String>,
}

fn read_row(row: &dyn Columns) -> ColumnResult<OutboxRow> {
    Ok(OutboxRow {
        number: row.value("number")?,
        id: row.lossy_text("id")?,
        event: read_event(row).map_err(|error| error.to_string()),
    })
}
