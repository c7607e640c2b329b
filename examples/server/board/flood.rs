//! How often a member may post.

use forum_api::host::Result;
use forum_api::model::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::actor::Actor;
use super::rules;
use super::settings::{POST_INTERVAL, POSTS_PER_HOUR};
use super::texts::Texts;

/// Whether a member may post now. What was refused left no row, and does not count.
pub fn check(connection: &Connection, actor: &Actor, now: Timestamp, say: &Texts) -> Result<()> {
    let last = nth_last(connection, actor, 1, Timestamp::from_millis(i64::MIN))?;
    let seconds = POST_INTERVAL.get(connection)?;
    rules::interval(last, now, seconds, actor.groups, say)?;
    let most = POSTS_PER_HOUR.get(connection)?;
    let oldest = nth_last(connection, actor, most, now.minus(rules::HOUR))?;
    rules::pace(oldest, now, most, rules::HOUR, say.too_many_posts)
}

/// When the member wrote their n-th last post later than `since`.
fn nth_last(
    connection: &Connection,
    actor: &Actor,
    n: u32,
    since: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    let mut query = connection.prepare_cached(
        "SELECT created_at FROM post WHERE author_id = ?1 AND created_at > ?3
         ORDER BY created_at DESC LIMIT 1 OFFSET ?2 - 1",
    )?;
    query
        .query_row((actor.member, n, since), |row| row.get(0))
        .optional()
}
