//! First answers in SQLite.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::Database;
use super::run::{change, first};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::{Attempt, Begin, Entry, Idempotency, Kept, Outcome, ResourceIds, Ticket};

/// A few at a time: more than are taken, and never so many that others wait.
const FORGET: &str = "
    DELETE FROM forum_api_idempotency_keys WHERE rowid IN (
        SELECT rowid FROM forum_api_idempotency_keys
        WHERE began_at <= ?1 ORDER BY began_at LIMIT 8)";

const FIND: &str = "SELECT * FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2";

/// Takes the place of a key that is over and not deleted yet.
const TAKE: &str = "
    REPLACE INTO forum_api_idempotency_keys (token, key, request, began_at)
    VALUES (?1, ?2, ?3, ?4)";

/// An outcome that nobody knows has no status.
const END: &str = "
    UPDATE forum_api_idempotency_keys
    SET ended = TRUE, status = ?4, location = ?5, body = ?6, forum_id = ?7, thread_id = ?8, post_id = ?9
    WHERE token = ?1 AND key = ?2 AND began_at = ?3";

const FREE: &str = "
    DELETE FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2 AND began_at = ?3";

/// First answers in the table `forum_api_idempotency_keys`. Each [`begin`](Idempotency::begin) deletes a few rows
/// whose time is over.
#[derive(Clone, Debug)]
pub struct SqliteIdempotency(Database);

impl SqliteIdempotency {
    /// First answers in `database`.
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
    let over = now.minus(Entry::LIFE);
    change(connection, FORGET, [over])?;
    let key = params![attempt.token, attempt.key];
    let known = first(connection, FIND, key, entry)?.filter(|entry| !entry.is_over(now));
    known.map_or_else(
        || take(connection, attempt, now),
        |entry| Ok(entry.says(&attempt.request, now)),
    )
}

fn take(connection: &Connection, attempt: &Attempt, now: Timestamp) -> Result<Begin> {
    let row = params![attempt.token, attempt.key, attempt.request, now];
    change(connection, TAKE, row)?;
    Ok(Begin::First(attempt.ticket(now)))
}

fn settle(connection: &Connection, ticket: &Ticket, outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Answered(kept) => end(connection, ticket, Some(&kept)),
        Outcome::Unknown => end(connection, ticket, None),
        Outcome::DidNotRun => free(connection, ticket),
    }
}

fn end(connection: &Connection, ticket: &Ticket, kept: Option<&Kept>) -> Result<()> {
    let row = params![
        ticket.token,
        ticket.key,
        ticket.began,
        kept.map(|kept| kept.status),
        kept.and_then(|kept| kept.location.as_deref()),
        kept.map(|kept| &*kept.body),
        kept.and_then(|kept| kept.resource.forum_id.as_ref()),
        kept.and_then(|kept| kept.resource.thread_id.as_ref()),
        kept.and_then(|kept| kept.resource.post_id.as_ref()),
    ];
    change(connection, END, row).map(drop)
}

fn free(connection: &Connection, ticket: &Ticket) -> Result<()> {
    let key = params![ticket.token, ticket.key, ticket.began];
    change(connection, FREE, key).map(drop)
}

fn entry(row: &Row<'_>) -> Result<Entry> {
    let ended: bool = row.get("ended")?;
    Ok(Entry {
        request: row.get("request")?,
        began: row.get("began_at")?,
        ended: ended.then(|| kept(row)).transpose()?,
    })
}

/// `None` when nobody knows what the answer was.
fn kept(row: &Row<'_>) -> Result<Option<Kept>> {
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
