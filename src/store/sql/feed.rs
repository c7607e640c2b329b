//! Feed store.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;

use super::{ColumnResult, Columns, SqlExecutor, SqlStore, Statement, readable};
use crate::error::{BackendError, BackendResult};
use crate::model::{EventId, Timestamp, UserId};
use crate::store::{FeedEntry, FeedPosition, FeedRead, FeedStore, FoundInFeed};

/// Reads at most 1,000 events since the time. The first of them in the feed is the first of all events since the time,
/// unless 1,000 events with earlier times follow it in the feed, which a clock that was behind wrote.
const FIND_START: &str = "
    WITH last AS (
        SELECT position, number FROM forum_api_events WHERE in_feed AND occurred_at < ?1
        ORDER BY occurred_at DESC, number DESC LIMIT 1
    ), since AS (
        SELECT position, number - 1 AS number FROM forum_api_events WHERE in_feed AND occurred_at >= ?1
        ORDER BY occurred_at, forum_api_events.number LIMIT 1000
    )
    SELECT position, number FROM (SELECT * FROM last UNION ALL SELECT * FROM since) AS page
    ORDER BY position, number LIMIT 1";

/// An event without parties may concern all members.
const COLUMNS: &str = "
    SELECT
        position, number, id, topic, occurred_at, forum, CAST(octet_length(body) AS BIGINT) AS size,
        coalesce(parties LIKE CAST(?1 AS TEXT), TRUE) AS may_concern_reader
    FROM forum_api_events WHERE in_feed AND ";

const LATEST: &str = " ORDER BY position DESC, number DESC LIMIT ?2";

fn find_sql<E: SqlExecutor>() -> String {
    format!(
        "SELECT position, number, {} - fanned_out_at AS age FROM forum_api_events WHERE id = ?2 AND in_feed",
        E::NOW
    )
}

/// The expression hides the condition from the planner, which otherwise can prefer an index of another order.
fn first_kept_sql<E: SqlExecutor>() -> String {
    format!(
        "SELECT position, number FROM forum_api_events
        WHERE in_feed AND coalesce(fanned_out_at >= {} - ?2, TRUE)
        ORDER BY position, number LIMIT 1",
        E::NOW
    )
}

#[async_trait]
impl<E: SqlExecutor> FeedStore for SqlStore<E> {
    async fn find(&self, id: &EventId, now: Timestamp) -> BackendResult<Option<FoundInFeed>> {
        let find = Statement::new(find_sql::<E>(), [self.0.time(now).into(), id.into()]);
        self.first(find, |row| {
            Ok(FoundInFeed { position: read_position(row)?, age: row.optional("age")? })
        })
        .await
    }

    async fn find_start(&self, time: Timestamp) -> BackendResult<Option<FeedPosition>> {
        self.first(Statement::new(FIND_START, [time.into()]), read_position).await
    }

    async fn first_kept(
        &self,
        retention: Duration,
        now: Timestamp,
    ) -> BackendResult<Option<FeedPosition>> {
        let values = [self.0.time(now).into(), retention.into()];
        self.first(Statement::new(first_kept_sql::<E>(), values), read_position).await
    }

    async fn read(
        &self,
        after: FeedPosition,
        reader: &UserId,
        limit: u32,
    ) -> BackendResult<FeedRead> {
        let sql = E::after_position(COLUMNS);
        let values = [
            pattern(reader).into(),
            (i64::from(limit) + 1).into(),
            after.group.into(),
            after.number.into(),
        ];
        let read_entry = readable("events", read_entry);
        let read = move |row: &dyn Columns| -> ColumnResult<(Option<EventId>, Option<FeedEntry>)> {
            Ok((row.value("id").ok(), read_entry(row)?))
        };
        let mut rows = self.0.query(Statement::new(sql, values), read).await?;
        let limit = limit as usize;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last_id = rows.iter().rev().find_map(|(id, _)| id.clone());
        let entries: Vec<_> = rows.into_iter().filter_map(|(_, entry)| entry).collect();
        // The fan-out removes an event that cannot be decoded from the feed, and its id is no position afterwards.
        let next = entries.last().map(|entry| entry.id.clone()).or(last_id);
        if has_more && next.is_none() {
            return Err(BackendError::new("no event of a page of the feed has a valid id"));
        }
        Ok(FeedRead { entries, next: next.filter(|_| has_more) })
    }

    async fn latest(&self, reader: &UserId, limit: u32) -> BackendResult<Vec<FeedEntry>> {
        let sql = [COLUMNS, E::IS_IN_ORDER, LATEST].concat();
        let values = [pattern(reader).into(), limit.into()];
        let rows =
            self.0.query(Statement::new(sql, values), readable("events", read_entry)).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    async fn bodies(&self, ids: &[EventId]) -> BackendResult<HashMap<EventId, String>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
        // An erasure can turn an event into an empty `ping` after its entry was read.
        let sql = format!(
            "SELECT id, body FROM forum_api_events WHERE {} AND topic <> 'ping'",
            E::ID_IS_LISTED
        );
        let find = Statement::new(sql, [ids.join(",").into()]);
        let read = |row: &dyn Columns| -> ColumnResult<(EventId, String)> {
            Ok((row.value("id")?, row.value("body")?))
        };
        let rows = self.0.query(find, readable("events", read)).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64> {
        self.0.sweep_feed(retention, now, limit).await
    }
}

/// Returns a pattern of parties that contain the id in quotes. `_` in an id matches other characters as well.
fn pattern(reader: &UserId) -> String {
    format!("%\"{reader}\"%")
}

fn read_position(row: &dyn Columns) -> ColumnResult<FeedPosition> {
    Ok(FeedPosition { group: row.value("position")?, number: row.value("number")? })
}

fn read_entry(row: &dyn Columns) -> ColumnResult<FeedEntry> {
    Ok(FeedEntry {
        id: row.value("id")?,
        topic: row.value("topic")?,
        occurred_at: row.value("occurred_at")?,
        forum_id: row.optional("forum")?,
        size: row.value("size")?,
        may_concern_reader: row.value("may_concern_reader")?,
    })
}
