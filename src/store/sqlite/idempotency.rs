//! Idempotency store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::Database;
use super::execute::{change, first};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::{Attempt, Begin, Entry, Idempotency, Kept, Outcome, ResourceIds, Ticket};

const FORGET: &str = include_str!("sql/forget_keys.sql");

const FIND: &str = "SELECT * FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2";

/// Replaces a key that is expired and not deleted yet.
const RESERVE: &str = "
    REPLACE INTO forum_api_idempotency_keys (token, key, request, began_at)
    VALUES (?1, ?2, ?3, ?4)";

const COMPLETE: &str = include_str!("sql/complete.sql");

const FREE: &str = "
    DELETE FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2 AND began_at = ?3";

/// Idempotency keys in the table `forum_api_idempotency_keys`. Each [`begin`](Idempotency::begin) deletes a few expired
/// rows.
#[derive(Clone, Debug)]
pub struct SqliteIdempotency(Database);

impl SqliteIdempotency {
    /// Idempotency keys in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Idempotency for SqliteIdempotency {
    async fn begin(&self, attempt: &Attempt, now: Timestamp) -> Stored<Begin> {
        let attempt = attempt.clone();
        self.0
            .write(move |savepoint| Ok(begin(savepoint, &attempt, now)?))
            .await
    }

    async fn settle(&self, ticket: &Ticket, outcome: Outcome) -> Stored<()> {
        let ticket = ticket.clone();
        self.0
            .write_completion(move |savepoint| Ok(settle(savepoint, &ticket, outcome)?))
            .await
    }
}

fn begin(connection: &Connection, attempt: &Attempt, now: Timestamp) -> Result<Begin> {
    let expired = now.minus(Entry::LIFE);
    change(connection, FORGET, [expired])?;
    let key = params![attempt.token, attempt.key];
    let known = first(connection, FIND, key, read_record)?.filter(|entry| !entry.is_over(now));
    if let Some(entry) = known {
        return Ok(entry.says(&attempt.request, now));
    }
    let row = params![attempt.token, attempt.key, attempt.request, now];
    change(connection, RESERVE, row)?;
    Ok(Begin::First(attempt.ticket(now)))
}

fn settle(connection: &Connection, ticket: &Ticket, outcome: Outcome) -> Result<()> {
    let Ticket { token, key, began } = ticket;
    let kept = match outcome {
        Outcome::Answered(kept) => Some(kept),
        Outcome::Unknown => None,
        Outcome::DidNotRun => {
            return change(connection, FREE, params![token, key, began]).map(drop);
        }
    };
    let kept = kept.as_ref();
    let resource = kept.map(|kept| &kept.resource);
    let row = params![
        token,
        key,
        began,
        kept.map(|kept| kept.status),
        kept.and_then(|kept| kept.location.as_deref()),
        kept.map(|kept| &*kept.body),
        resource.and_then(|resource| resource.forum_id.as_ref()),
        resource.and_then(|resource| resource.thread_id.as_ref()),
        resource.and_then(|resource| resource.post_id.as_ref()),
    ];
    change(connection, COMPLETE, row).map(drop)
}

fn read_record(row: &Row<'_>) -> Result<Entry> {
    let ended: bool = row.get("ended")?;
    Ok(Entry {
        request: row.get("request")?,
        began: row.get("began_at")?,
        ended: ended.then(|| read_response(row)).transpose()?,
    })
}

/// Returns `None` for an unknown outcome.
fn read_response(row: &Row<'_>) -> Result<Option<Kept>> {
    let Some(status) = row.get("status")? else {
        return Ok(None);
    };
    let body: Vec<u8> = row.get("body")?;
    Ok(Some(Kept {
        status,
        location: row.get("location")?,
        body: body.into(),
        resource: ResourceIds {
            forum_id: row.get("forum_id")?,
            thread_id: row.get("thread_id")?,
            post_id: row.get("post_id")?,
        },
    }))
}
