//! Where a search looks: what its parameters leave of the posts that the caller may read.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use forum_api::host::Result;
use forum_api::model::{ForumId, Search, Timestamp, UserRef, When};
use rusqlite::{Connection, OptionalExtension};

use super::super::actor::Actor;
use super::super::sight::between_commas;
use super::expression;

/// Where a search looks.
#[derive(Debug)]
pub struct Aim {
    /// What the posts say, in the language of the index.
    pub text: String,
    /// Where they are.
    place: String,
    /// The posts among which it is.
    pub posts: RangeInclusive<i64>,
}

impl Aim {
    /// What `search` aims at; `None` when it names a forum or a member in vain, or the caller sees no forum.
    pub fn of(
        connection: &Connection,
        actor: &Actor,
        search: &Search,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let mut forums: BTreeSet<i64> = actor.sees().collect();
        if !search.forum.is_empty() {
            forums = below(connection, &search.forum, &forums)?;
        }
        let author = search.by.as_ref().map(|by| member(connection, by));
        let author = author.transpose()?;
        if forums.is_empty() || author == Some(None) {
            return Ok(None);
        }
        let posts = search.when.as_ref().map(|when| span(connection, when, now));
        Ok(Some(Self {
            text: expression::text(search, author.flatten()),
            place: expression::place(&forums, &long_and_hidden(connection)?),
            posts: posts.transpose()?.unwrap_or(i64::MIN..=i64::MAX),
        }))
    }

    /// What the index is asked for.
    pub fn expression(&self) -> String {
        format!("{} AND {}", self.text, self.place)
    }
}

/// Those of the `seen` forums that are named, or below one that is named and seen.
fn below(
    connection: &Connection,
    named: &[ForumId],
    seen: &BTreeSet<i64>,
) -> Result<BTreeSet<i64>> {
    let named = named.iter().filter_map(|forum| forum.number().ok());
    let mut query = connection.prepare_cached(
        "WITH RECURSIVE below (id) AS (
            SELECT id FROM forum WHERE instr(?1, ',' || id || ',')
            UNION
            SELECT forum.id FROM below JOIN forum ON forum.parent_id = below.id
        )
        SELECT id FROM below",
    )?;
    let named = between_commas(named.filter(|forum| seen.contains(forum)));
    let found = query.query_map([named], |row| row.get(0))?;
    let found = found.collect::<rusqlite::Result<BTreeSet<i64>>>()?;
    Ok(&found & seen)
}

/// The threads whose posts stay in the index although nobody is to find them. They are few: each is long.
fn long_and_hidden(connection: &Connection) -> Result<BTreeSet<i64>> {
    let mut query = connection.prepare_cached(LONG_AND_HIDDEN)?;
    let threads = query.query_map([], |row| row.get(0))?;
    Ok(threads.collect::<rusqlite::Result<_>>()?)
}

pub const LONG_AND_HIDDEN: &str = "SELECT id FROM thread WHERE is_long AND state <> 'visible'";

/// `None` when there is no such member.
fn member(connection: &Connection, by: &UserRef) -> Result<Option<i64>> {
    let name = match by {
        UserRef::Id(id) => return Ok(id.number().ok().filter(|id| *id > 0)),
        UserRef::Name(name) => name,
    };
    let mut query = connection.prepare_cached("SELECT id FROM member WHERE username = ?1")?;
    Ok(query.query_row([name], |row| row.get(0)).optional()?)
}

/// The posts that were written in a span of time.
fn span(connection: &Connection, when: &When, now: Timestamp) -> Result<RangeInclusive<i64>> {
    let (from, until) = when.range(now);
    let mut query = connection.prepare_cached(
        "SELECT
            (SELECT id FROM post WHERE created_at >= ?1 ORDER BY created_at, id LIMIT 1),
            (SELECT id FROM post WHERE created_at < ?2 ORDER BY created_at DESC, id DESC LIMIT 1)",
    )?;
    let from = from.map_or(i64::MIN, Timestamp::as_millis);
    let until = until.map_or(i64::MAX, Timestamp::as_millis);
    let (first, last): (Option<i64>, Option<i64>) =
        query.query_row([from, until], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(first.unwrap_or(i64::MAX)..=last.unwrap_or(i64::MIN))
}
