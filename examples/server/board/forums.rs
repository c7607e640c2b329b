//! Forums: listed, added, and given their moderators.

use std::collections::HashMap;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Forum, ForumId};
use rusqlite::{Connection, OptionalExtension, Savepoint, named_params};

use super::access::Lists;
use super::actor::Actor;
use super::groups::Groups;
use super::row::Columns;

/// The forums that the caller sees: each, then those below it, by position.
pub fn list(connection: &Connection, actor: &Actor) -> Result<Vec<Forum>> {
    let mut query = connection.prepare_cached(
        "WITH RECURSIVE tree (id, depth, position) AS (
            SELECT id, 0, position FROM forum WHERE parent_id IS NULL
            UNION ALL
            SELECT forum.id, tree.depth + 1, forum.position FROM tree CROSS JOIN forum ON forum.parent_id = tree.id
            ORDER BY 2 DESC, 3
        )
        SELECT forum.id, forum.parent_id, forum.title, forum.description, forum.position,
            forum.thread_count, forum.post_count, forum.last_activity_at
        FROM tree CROSS JOIN forum ON forum.id = tree.id",
    )?;
    let mut above = Above::default();
    let forums = query.query_map([], |row| {
        let mut columns = Columns::of(row);
        let id: i64 = columns.value()?;
        let access = actor.access(id);
        let forum = Forum {
            forum_id: id.into(),
            parent_id: above
                .nearest(id, columns.value()?, actor)
                .map(ForumId::from),
            title: columns.value()?,
            description: columns.value()?,
            position: columns.value()?,
            thread_count: columns.count()?,
            post_count: columns.count()?,
            last_activity_at: columns.value()?,
            can_start_thread: access.start,
        };
        Ok(access.read.then_some(forum))
    })?;
    Ok(forums
        .filter_map(rusqlite::Result::transpose)
        .collect::<rusqlite::Result<_>>()?)
}

/// The nearest visible forum above each that was met; parents are met before their children.
#[derive(Default)]
struct Above(HashMap<i64, Option<i64>>);

impl Above {
    fn nearest(&mut self, forum: i64, parent: Option<i64>, actor: &Actor) -> Option<i64> {
        let parent = parent?;
        let nearest = match actor.access(parent).read {
            true => Some(parent),
            false => self.0.get(&parent).copied().flatten(),
        };
        self.0.insert(forum, nearest);
        nearest
    }
}

/// A forum to be.
#[derive(Clone, Debug, Default)]
pub struct NewForum {
    /// Its title.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// The forum above.
    pub parent: Option<i64>,
    /// The groups that may; the forum above says it for `None`.
    pub lists: Lists<Option<Groups>>,
}

/// Adds a forum, the last of its siblings, and gives its id.
pub fn add(tx: &Savepoint<'_>, new: &NewForum) -> Result<i64> {
    if new.title.trim().is_empty() {
        return Err(Refusal::Invalid("a forum needs a title".into()));
    }
    if let Some(parent) = new.parent {
        must_exist(tx, parent)?;
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO forum (parent_id, position, title, description, read_groups, start_groups, reply_groups)
         SELECT :parent, ifnull(max(position), 0) + 1, :title, :description, :read, :start, :reply
         FROM forum WHERE parent_id IS :parent",
    )?;
    Ok(insert.insert(named_params! {
        ":parent": new.parent,
        ":title": new.title.trim(),
        ":description": new.description,
        ":read": new.lists.read,
        ":start": new.lists.start,
        ":reply": new.lists.reply,
    })?)
}

/// Names a member as a moderator of a forum, which that member has to be able to read.
pub fn name_moderator(tx: &Savepoint<'_>, forum: i64, member: i64) -> Result<()> {
    must_exist(tx, forum)?;
    let actor = Actor::load(tx, Some(member))?;
    if !actor.is_some_and(|actor| actor.access(forum).read) {
        return Err(Refusal::Invalid(format!(
            "a moderator has to be able to read forum {forum}"
        )));
    }
    tx.prepare_cached(
        "INSERT OR IGNORE INTO forum_moderator (forum_id, member_id) VALUES (?1, ?2)",
    )?
    .execute([forum, member])?;
    Ok(())
}

fn must_exist(connection: &Connection, forum: i64) -> Result<()> {
    let mut query = connection.prepare_cached("SELECT 1 FROM forum WHERE id = ?1")?;
    let found: Option<i64> = query.query_row([forum], |row| row.get(0)).optional()?;
    let absent = || Refusal::NotFound(format!("there is no forum {forum}"));
    found.map(drop).ok_or_else(absent)
}
