//! How often a member may post.

use forum_api::host::Result;
use forum_api::model::Timestamp;

use super::actor::Actor;
use super::db::{Connection, bind};
use super::rules;
use super::settings::{POST_INTERVAL, POSTS_PER_HOUR, Values};
use super::texts::Texts;

/// Refuses a post of a member who has to wait. Refused posts left no row and do not count. Posts that are dated later
/// than now, because a clock was ahead, do not count either.
pub async fn check(
    connection: &Connection<'_>,
    actor: &Actor,
    settings: &Values,
    now: Timestamp,
    say: &Texts,
) -> Result<()> {
    let most = settings.of(&POSTS_PER_HOUR);
    let query = "
        SELECT
            (SELECT max(created_at) FROM post WHERE author_id = :member AND created_at <= :now),
            (SELECT created_at FROM post
             WHERE author_id = :member AND created_at > :since AND created_at <= :now
             ORDER BY created_at DESC LIMIT 1 OFFSET :others)";
    let parameters = bind! {
        ":member": actor.member,
        ":now": now,
        ":since": now.minus(rules::HOUR),
        ":others": i64::from(most) - 1,
    };
    let times = connection.one(query, parameters, |columns| {
        Ok((columns.value()?, columns.value()?))
    });
    let (last, oldest) = times.await?;
    let seconds = settings.of(&POST_INTERVAL);
    rules::interval(last, now, seconds, actor.groups, say)?;
    rules::pace(oldest, now, most, rules::HOUR, say.too_many_posts)
}
