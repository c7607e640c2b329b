//! How often a member may post.

use forum_api::host::Result;
use forum_api::model::Timestamp;

use super::actor::Actor;
use super::db::{self, Connection, bind};
use super::rules;
use super::settings::{POST_INTERVAL, POSTS_PER_HOUR};
use super::texts::Texts;

/// Whether a member may post now. What was refused left no row, and does not count.
pub async fn check(
    connection: &Connection<'_>,
    actor: &Actor,
    now: Timestamp,
    say: &Texts,
) -> Result<()> {
    let last = nth_last(connection, actor, 1, Timestamp::from_millis(i64::MIN)).await?;
    let seconds = POST_INTERVAL.get(connection).await?;
    rules::interval(last, now, seconds, actor.groups, say)?;
    let most = POSTS_PER_HOUR.get(connection).await?;
    let oldest = nth_last(connection, actor, most, now.minus(rules::HOUR)).await?;
    rules::pace(oldest, now, most, rules::HOUR, say.too_many_posts)
}

/// When the member wrote their n-th last post later than `since`.
async fn nth_last(
    connection: &Connection<'_>,
    actor: &Actor,
    n: u32,
    since: Timestamp,
) -> db::Result<Option<Timestamp>> {
    let query = "
        SELECT created_at FROM post WHERE author_id = ?1 AND created_at > ?3
        ORDER BY created_at DESC LIMIT 1 OFFSET ?2";
    connection
        .first(
            query,
            bind![actor.member, i64::from(n.saturating_sub(1)), since],
            |columns| columns.value(),
        )
        .await
}
