//! Accounts: what administrators do to members.

use forum_api::host::{Refusal, Result};
use forum_api::model::Timestamp;
use rusqlite::{Connection, OptionalExtension, Savepoint, named_params};

use super::groups::{Group, Groups};

/// Adds a member, and gives the id. Names are unique, whatever the case of their letters.
pub fn add(tx: &Savepoint<'_>, name: &str, groups: Groups, now: Timestamp) -> Result<i64> {
    if !is_name(name) {
        let rule = "a name is 1 to 64 of a-z, A-Z, 0-9, dot, hyphen and underscore";
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
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(legal)
}

/// The member of this name.
pub fn named(connection: &Connection, name: &str) -> Result<i64> {
    let mut query = connection.prepare_cached("SELECT id FROM member WHERE username = ?1")?;
    let id = query.query_row([name], |row| row.get(0)).optional()?;
    id.ok_or_else(|| Refusal::NotFound(format!("there is no member {name:?}")))
}

/// A member's name; `None` when the account is gone.
pub fn name(connection: &Connection, member: i64) -> Result<Option<String>> {
    let mut query = connection.prepare_cached("SELECT username FROM member WHERE id = ?1")?;
    Ok(query.query_row([member], |row| row.get(0)).optional()?)
}

/// Bans a member, who can no longer act from then on, or takes the ban back.
pub fn set_banned(tx: &Savepoint<'_>, member: i64, banned: bool) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE member SET banned = ?2 WHERE id = ?1")?
        .execute((member, banned))?;
    Ok(())
}

/// Has a member take no more messages from another.
pub fn ignore(tx: &Savepoint<'_>, member: i64, ignored: i64) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO member_ignore (member_id, ignored_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    insert.execute([member, ignored])?;
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

/// The hash of an administrator's password; the same refusal whatever is missing.
pub fn administrators_password(connection: &Connection, name: &str) -> Result<String> {
    let mut query = connection.prepare_cached(
        "SELECT password_hash, groups FROM member WHERE username = ?1 AND banned = FALSE AND password_hash IS NOT NULL",
    )?;
    let found = query.query_row([name], |row| Ok((row.get(0)?, row.get(1)?)));
    match found.optional()? {
        Some((hash, groups)) if Groups::contains(groups, Group::Administrators) => Ok(hash),
        _ => Err(Refusal::Forbidden(format!(
            "{name:?} is no administrator with a password"
        ))),
    }
}

/// An account that can sign in.
pub struct Login {
    /// The member.
    pub member: i64,
    /// The member's name.
    pub name: String,
    /// The hash of the member's password.
    pub password_hash: String,
    /// The groups that the member is in.
    pub groups: Groups,
}

/// The account of a member who may act and has a password.
pub fn login(connection: &Connection, member: i64) -> rusqlite::Result<Option<Login>> {
    let mut query = connection.prepare_cached(
        "SELECT id, username, password_hash, groups FROM member
         WHERE id = ?1 AND banned = FALSE AND password_hash IS NOT NULL",
    )?;
    let login = query.query_row([member], |row| {
        Ok(Login {
            member: row.get(0)?,
            name: row.get(1)?,
            password_hash: row.get(2)?,
            groups: row.get(3)?,
        })
    });
    login.optional()
}
