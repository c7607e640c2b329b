//! Members: their profiles, and what administrators do to their accounts.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Profile, Timestamp, UserRef};
use rusqlite::{Connection, OptionalExtension, Savepoint, named_params};

use super::groups::Groups;
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

/// Adds a member, and gives the id. Names are unique, whatever the case of their letters.
pub fn add(tx: &Savepoint<'_>, name: &str, groups: Groups, now: Timestamp) -> Result<i64> {
    if !is_name(name) {
        let rule = "a name is 1 to 64 letters, digits, dots, hyphens and underscores";
        return Err(Refusal::Invalid(rule.into()));
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO member (username, groups, joined_at) VALUES (:name, :groups, :now)
         ON CONFLICT DO NOTHING RETURNING id",
    )?;
    let parameters = named_params! { ":name": name, ":groups": groups, ":now": now };
    let id = insert.query_row(parameters, |row| row.get(0)).optional()?;
    id.ok_or_else(|| Refusal::Conflict(format!("the name {name:?} is taken")))
}

fn is_name(text: &str) -> bool {
    let legal = |letter: char| letter.is_alphanumeric() || ['.', '-', '_'].contains(&letter);
    (1..=64).contains(&text.chars().count()) && text.chars().all(legal)
}

/// The member of this name.
pub fn named(connection: &Connection, name: &str) -> Result<i64> {
    let mut query = connection.prepare_cached("SELECT id FROM member WHERE username = ?1")?;
    let id = query.query_row([name], |row| row.get(0)).optional()?;
    id.ok_or_else(|| Refusal::NotFound(format!("there is no member {name:?}")))
}

/// Bans a member, who can no longer act from then on, or takes the ban back.
pub fn set_banned(tx: &Savepoint<'_>, member: i64, banned: bool) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE member SET banned = ?2 WHERE id = ?1")?
        .execute((member, banned))?;
    Ok(())
}

/// Puts a member into these groups and no others.
pub fn set_groups(tx: &Savepoint<'_>, member: i64, groups: Groups) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE member SET groups = ?2 WHERE id = ?1")?
        .execute((member, groups))?;
    Ok(())
}

/// Gives a member a new password, of which this is the hash.
pub fn set_password(tx: &Savepoint<'_>, member: i64, hash: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE member SET password_hash = ?2 WHERE id = ?1")?
        .execute((member, hash))?;
    Ok(())
}

/// The hash of a member's password; `None` when the member has none, and cannot sign in.
pub fn password(connection: &Connection, member: i64) -> rusqlite::Result<Option<String>> {
    let mut query = connection.prepare_cached("SELECT password_hash FROM member WHERE id = ?1")?;
    query.query_row([member], |row| row.get(0))
}
