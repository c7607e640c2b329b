//! Members, as others see them.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Profile, Timestamp, UserRef};
use rusqlite::{Connection, OptionalExtension, Savepoint};

use super::row::Columns;

/// How much later a member has to be seen than the last time that was noted.
pub const SEEN_GRAIN: Duration = Duration::from_secs(5 * 60);

/// A member's public profile.
pub fn profile(connection: &Connection, user: &UserRef) -> Result<Profile> {
    let (id, name) = match user {
        UserRef::Id(id) => (Some(id.number()?), None),
        UserRef::Name(name) => (None, Some(name)),
    };
    let mut query = connection.prepare_cached(
        "SELECT id, username, title, avatar_url, joined_at, last_seen_at, post_count, reputation
         FROM member WHERE id = ?1 OR username = ?2",
    )?;
    let profile = query.query_row((id, name), |row| {
        let mut columns = Columns::of(row);
        Ok(Profile {
            user_id: columns.id()?,
            username: columns.value()?,
            title: columns.value()?,
            avatar_url: columns.value()?,
            joined_at: columns.value()?,
            last_seen_at: columns.value()?,
            post_count: columns.count()?,
            reputation: columns.value()?,
        })
    });
    profile.optional()?.ok_or(Refusal::Absent)
}

/// Notes that a member was seen, unless that was noted within [`SEEN_GRAIN`] before.
pub fn note_seen(tx: &Savepoint<'_>, member: i64, now: Timestamp) -> rusqlite::Result<()> {
    let mut update = tx.prepare_cached(
        "UPDATE member SET last_seen_at = ?2 WHERE id = ?1 AND ifnull(last_seen_at <= ?3, TRUE)",
    )?;
    update.execute((member, now, now.minus(SEEN_GRAIN)))?;
    Ok(())
}
