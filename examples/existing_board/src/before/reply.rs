//! The reply command of the form.

use super::members::{self, Member};
use super::topics::{self, Entry, Topic, Writer};
use super::{Club, ReplyError};
use crate::added::events;
use forum_api::host::RequestInfo;

/// Maximum length of an entry, in characters.
const MAX_LENGTH: usize = 10_000;

/// Locks the member and the topic until the end of the transaction.
const LOCK: &str = "
    SELECT FROM member, topic WHERE member.id = $1 AND topic.id = $2 FOR NO KEY UPDATE";

const WRITE: &str = "
    WITH written AS (
        INSERT INTO entry (topic, number, writer, body) VALUES ($1, $2, $3, $4) RETURNING *
    ), counted AS (
        UPDATE topic SET entries = written.number, active_at = written.written_at
        FROM written WHERE topic.id = written.topic
    ), recorded AS (
        UPDATE member SET wrote_at = written.written_at FROM written WHERE member.id = written.writer
    )
    SELECT id, written_at FROM written";

/// Writes an entry, and returns its topic and the entry.
pub async fn reply(
    club: &Club,
    member: i64,
    topic: i64,
    body: &str,
    request: Option<&RequestInfo>, // Added.
) -> Result<(Topic, Entry), ReplyError> {
    let mut client = club.pool.get().await?;
    let transaction = client.transaction().await?;
    transaction.execute(LOCK, &[&member, &topic]).await?;
    let writer = members::find(&transaction, member).await?.ok_or(ReplyError::Banned)?;
    let topic = topics::find(&transaction, topic, writer.rank).await?.ok_or(ReplyError::NoTopic)?;
    check_reply(club, &writer, &topic, body)?;

    let number = topic.entries + 1;
    let written = transaction.query_one(WRITE, &[&topic.id, &number, &writer.id, &body]).await?;
    let entry = Entry {
        id: written.get("id"),
        topic: topic.id,
        number,
        writer: Writer { id: writer.id, name: writer.name },
        body: body.into(),
        written_at: written.get("written_at"),
    };
    let topic = topic.with_entry(&entry);
    events::emit(&transaction, &topic, &entry, request).await?; // Added.
    transaction.commit().await?;
    Ok((topic, entry))
}

fn check_reply(club: &Club, writer: &Member, topic: &Topic, body: &str) -> Result<(), ReplyError> {
    if !topic.accepts_entries_of(writer.rank) {
        return Err(ReplyError::Locked);
    }
    if body.trim().is_empty() {
        return Err(ReplyError::Empty);
    }
    if body.chars().count() > MAX_LENGTH {
        return Err(ReplyError::TooLong);
    }
    match writer.since_last_entry {
        Some(elapsed) if elapsed < club.pause => Err(ReplyError::TooSoon(club.pause - elapsed)),
        _ => Ok(()),
    }
}
