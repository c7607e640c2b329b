//! Changes that the backup of a restore lacks and that must not come undone: revoked tokens, bans, changed passwords, lost
//! groups and erased members.
//!
//! The audit log of the replaced database names them. Their values are those of its tables.

use std::collections::BTreeSet;

use forum_api::audit::AuditAction;
use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::access::groups::Groups;
use crate::audit;

/// Changes to repeat in a restored database.
#[derive(Debug, Default)]
pub struct CarriedChanges {
    /// Lookups of the tokens to revoke.
    pub revoked_tokens: Vec<String>,
    pub members: Vec<ChangedMember>,
    pub erased_members: Vec<ErasedMember>,
}

/// A member whose account the restored database changes.
#[derive(Debug)]
pub struct ChangedMember {
    pub id: i64,
    pub name: String,
    pub is_banned: bool,
    pub password_hash: Option<String>,
    pub groups: Option<Groups>,
}

/// A member of the backup whom the replaced database no longer has.
#[derive(Debug)]
pub struct ErasedMember {
    pub name: String,
    pub with_posts: bool,
}

struct Account {
    id: i64,
    name: String,
    is_banned: bool,
    password_hash: Option<String>,
    groups: Groups,
}

impl Account {
    fn read(row: &Row<'_>) -> Result<Self> {
        let groups: String = row.get("groups")?;
        Ok(Self {
            id: row.get("id")?,
            name: row.get("username")?,
            is_banned: row.get("banned")?,
            password_hash: row.get("password_hash")?,
            groups: groups.parse().unwrap_or_default(),
        })
    }
}

impl CarriedChanges {
    /// Compares a `restored` database with the one that it replaces. Returns `None` if they are different boards.
    pub fn find(restored: &Connection, replaced: &Connection) -> Result<Option<Self>> {
        if first_member(restored)? != first_member(replaced)? {
            return Ok(None);
        }
        let mut changes = Self::default();
        for lookup in new_targets(restored, replaced, &AuditAction::TOKEN_REVOKED)? {
            let find_valid =
                "SELECT 1 FROM forum_api_tokens WHERE lookup = ?1 AND revoked_at IS NULL";
            if restored.prepare(find_valid)?.exists([&lookup])? {
                changes.revoked_tokens.push(lookup);
            }
        }
        let banned = new_targets(restored, replaced, &audit::MEMBER_BANNED)?;
        let passwords = new_targets(restored, replaced, &audit::MEMBER_PASSWORD_CHANGED)?;
        let groups = new_targets(restored, replaced, &audit::MEMBER_GROUPS_CHANGED)?;
        // The targets of these entries are usernames.
        let names: BTreeSet<_> = banned.iter().chain(&passwords).chain(&groups).collect();
        for name in names {
            let find = "SELECT * FROM member WHERE lower(username) = lower(?1)";
            let account = |connection: &Connection| {
                connection.query_row(find, [name], Account::read).optional()
            };
            let Some((former, last)) = account(restored)?.zip(account(replaced)?) else {
                continue;
            };
            // Another member has the name since then.
            if former.id != last.id {
                continue;
            }
            let has_lost_a_group = former.groups.without(last.groups) != Groups::default();
            let member = ChangedMember {
                id: former.id,
                name: former.name,
                is_banned: last.is_banned && !former.is_banned,
                password_hash: last.password_hash.filter(|hash| {
                    passwords.contains(name) && Some(hash) != former.password_hash.as_ref()
                }),
                groups: has_lost_a_group.then_some(last.groups).filter(|_| groups.contains(name)),
            };
            if member.is_banned || member.password_hash.is_some() || member.groups.is_some() {
                changes.members.push(member);
            }
        }
        // The targets of these entries are ids.
        for id in new_targets(restored, replaced, &audit::MEMBER_ERASED)? {
            let find = "SELECT username FROM member WHERE CAST(id AS TEXT) = ?1";
            if let Some(name) = restored.query_row(find, [&id], |row| row.get(0)).optional()? {
                let with_posts = has_lost_posts(restored, replaced, &id)?;
                changes.erased_members.push(ErasedMember { name, with_posts });
            }
        }
        Ok(Some(changes))
    }
}

/// Returns id and registration of the oldest account. They are the same in a board and in its backups.
fn first_member(board: &Connection) -> Result<Option<(i64, i64)>> {
    let find = "SELECT id, joined_at FROM member ORDER BY id LIMIT 1";
    board.query_row(find, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Returns the targets of the entries of an action in the audit log of the replaced database that the restored one lacks.
fn new_targets(
    restored: &Connection,
    replaced: &Connection,
    action: &AuditAction,
) -> Result<BTreeSet<String>> {
    let find = "SELECT id, target FROM forum_api_audit_log WHERE action = ?1";
    let mut entries = replaced.prepare(find)?;
    let mut known_entry = restored.prepare("SELECT 1 FROM forum_api_audit_log WHERE id = ?1")?;
    let mut targets = BTreeSet::new();
    let mut rows = entries.query([action.as_str()])?;
    while let Some(row) = rows.next()? {
        if !known_entry.exists([row.get::<_, String>("id")?])? {
            targets.insert(row.get("target")?);
        }
    }
    Ok(targets)
}

/// Returns whether the posts of a member were removed from the replaced database with the account.
fn has_lost_posts(restored: &Connection, replaced: &Connection, member: &str) -> Result<bool> {
    let find = "SELECT id FROM post WHERE author_id = CAST(?1 AS INTEGER) LIMIT 1";
    match restored.query_row(find, [member], |row| row.get::<_, i64>(0)).optional()? {
        Some(post) => Ok(!replaced.prepare("SELECT 1 FROM post WHERE id = ?1")?.exists([post])?),
        None => Ok(false),
    }
}
