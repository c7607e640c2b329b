//! Where a search looks: what its parameters leave of the posts that the caller may read.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use forum_api::host::Result;
use forum_api::model::{ForumId, Search, Timestamp, UserRef, When};

use super::super::actor::Actor;
use super::super::db::{self, Connection, bind};
use super::super::sight::between_commas;
use super::expression::{FTS5, Language, TSQUERY};

/// Where a search looks.
#[derive(Debug)]
pub struct Aim {
    /// What the posts say, in the language of the index.
    pub text: String,
    /// The forums and the threads that the search leaves out, as a continuation of the text.
    pub place: String,
    /// Only the threads that it leaves out, as a continuation of the text.
    pub anywhere: String,
    /// The forums. `None` for all forums of the board.
    pub forums: Option<BTreeSet<i64>>,
    /// The posts among which it is.
    pub posts: RangeInclusive<i64>,
}

impl Aim {
    /// What `search` aims at; `None` when it names a forum or a member in vain, or the caller sees no forum.
    pub async fn of(
        connection: &Connection<'_>,
        actor: &Actor,
        search: &Search,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let mut forums: BTreeSet<i64> = actor.sees().collect();
        if !search.forum.is_empty() {
            forums = below(connection, &search.forum, &forums).await?;
        }
        let author = match &search.by {
            Some(by) => Some(member(connection, by).await?),
            None => None,
        };
        if forums.is_empty() || author == Some(None) {
            return Ok(None);
        }
        let posts = match &search.when {
            Some(when) => span(connection, when, now).await?,
            None => i64::MIN..=i64::MAX,
        };
        let language: &Language = connection.either(&FTS5, &TSQUERY);
        let left_out = long_and_hidden(connection).await?;
        let everywhere =
            search.forum.is_empty() && actor.sees_all() && forums.len() == all(connection).await?;
        Ok(Some(Self {
            text: language.text(search, author.flatten()),
            place: (language.place)(&forums, everywhere, &left_out),
            anywhere: (language.place)(&forums, true, &left_out),
            forums: (!everywhere).then_some(forums),
            posts,
        }))
    }
}

/// Those of the `seen` forums that are named, or below one that is named and seen.
async fn below(
    connection: &Connection<'_>,
    named: &[ForumId],
    seen: &BTreeSet<i64>,
) -> Result<BTreeSet<i64>> {
    let named = named.iter().filter_map(|forum| forum.number().ok());
    let named = between_commas(named.filter(|forum| seen.contains(forum)));
    let find = "
        WITH RECURSIVE below (id) AS (
            SELECT id FROM forum WHERE instr(?1, ',' || id || ',') > 0
            UNION
            SELECT forum.id FROM below JOIN forum ON forum.parent_id = below.id
        )
        SELECT id FROM below";
    let found = connection
        .all(find, bind![named], |columns| columns.value())
        .await?;
    Ok(&BTreeSet::from_iter(found) & seen)
}

/// The threads whose posts stay in the index although nobody is to find them. They are few: each is long.
async fn long_and_hidden(connection: &Connection<'_>) -> Result<BTreeSet<i64>> {
    let threads = connection.all(LONG_AND_HIDDEN, &[], |columns| columns.value());
    Ok(BTreeSet::from_iter(threads.await?))
}

pub const LONG_AND_HIDDEN: &str = "SELECT id FROM thread WHERE is_long AND state <> 'visible'";

/// How many forums there are by now.
async fn all(connection: &Connection<'_>) -> Result<usize> {
    let count = connection.one("SELECT count(*) FROM forum", &[], |columns| columns.count());
    Ok(count.await?)
}

/// `None` when there is no such member.
async fn member(connection: &Connection<'_>, by: &UserRef) -> Result<Option<i64>> {
    let name = match by {
        UserRef::Id(id) => return Ok(id.number().ok().filter(|id| *id > 0)),
        UserRef::Name(name) => name,
    };
    let find = "SELECT id FROM member WHERE lower(username) = ?1";
    let name = bind![name.to_ascii_lowercase()];
    Ok(connection
        .first(find, name, |columns| columns.value())
        .await?)
}

/// The posts that were written in a span of time.
async fn span(
    connection: &Connection<'_>,
    when: &When,
    now: Timestamp,
) -> db::Result<RangeInclusive<i64>> {
    let (from, until) = when.range(now);
    let from = from.map_or(i64::MIN, Timestamp::as_millis);
    let until = until.map_or(i64::MAX, Timestamp::as_millis);
    let find = "
        SELECT
            (SELECT id FROM post WHERE created_at >= ?1 ORDER BY created_at, id LIMIT 1),
            (SELECT id FROM post WHERE created_at < ?2 ORDER BY created_at DESC, id DESC LIMIT 1)";
    let parameters = bind![from, until];
    let ends = connection.one(find, parameters, |columns| {
        let (first, last): (Option<i64>, Option<i64>) = (columns.value()?, columns.value()?);
        Ok(first.unwrap_or(i64::MAX)..=last.unwrap_or(i64::MIN))
    });
    ends.await
}
