//! Threads, by the first of their matches on the way: the others are passed over.
//!
//! A walk knows the threads that it has met by their matches between the place where it began and the one where a page
//! begins. So what is written meanwhile, which comes before the one or after the other, takes no thread away and brings
//! none back. A match that is approved, restored or edited in between, and a hit that is deleted, may move its thread.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search};

use super::super::db::{self, Connection, bind};
use super::super::position;
use super::aim::Aim;
use super::hits::json;
use super::walk::{Match, Matches, Way};

/// For how many threads that the walk has met before a page looks behind for each hit that it may hold, before it is
/// short.
const PASSED: usize = 10;

/// A page of the posts by which threads are found. It begins at the first of them.
pub async fn page(
    connection: &Connection<'_>,
    aim: &Aim,
    search: &Search,
    way: Way,
) -> Result<Page<i64>> {
    let limit = search.limit.get();
    let after: Option<[i64; 2]> = position::numbers(search.after.as_ref())?;
    let ahead = after.map_or(aim.posts.clone(), |[from, _]| way.ahead(&aim.posts, from));
    let behind = after.map(|[from, begun]| way.behind(begun, from));
    let mut matches = Matches::new(connection, aim, way, ahead, position::rows(search.limit));
    let (mut hits, mut met, mut more) = (Vec::new(), HashSet::new(), true);
    while more && hits.len() <= limit && (hits.len() < 2 || met.len() < PASSED * limit) {
        let fresh = fresh(&mut matches, &mut met, limit + 1).await?;
        more = fresh.len() > limit;
        let told = told(connection, aim, behind.as_ref(), &fresh).await?;
        let news = fresh.iter().filter(|found| !told.contains(&found.thread));
        hits.extend(news.map(|found| found.post));
    }
    let kept = match more {
        true => limit.min(hits.len().saturating_sub(1)),
        false => limit,
    };
    let begun = after.map(|[_, begun]| begun).or(hits.first().copied());
    let next = hits.get(kept).zip(begun);
    let next = next.map(|(from, begun)| Position::new(format_args!("{from}.{begun}")));
    hits.truncate(kept);
    Ok(Page { items: hits, next })
}

/// The next few matches in threads that were not `met` yet on this page.
async fn fresh(
    matches: &mut Matches<'_>,
    met: &mut HashSet<i64>,
    most: usize,
) -> db::Result<Vec<Match>> {
    let mut fresh = Vec::new();
    while fresh.len() < most
        && let Some(found) = matches.next().await?
    {
        if met.insert(found.thread) {
            fresh.push(found);
        }
    }
    Ok(fresh)
}

/// Those threads of the `found` matches that have another one `behind`.
async fn told(
    connection: &Connection<'_>,
    aim: &Aim,
    behind: Option<&RangeInclusive<i64>>,
    found: &[Match],
) -> db::Result<HashSet<i64>> {
    let Some(behind) = behind else {
        return Ok(HashSet::new());
    };
    let threads: Vec<i64> = found.iter().map(|found| found.thread).collect();
    let parameters = bind! {
        ":threads": json(&threads),
        ":text": aim.text,
        ":first": behind.start(),
        ":last": behind.end(),
    };
    let find = connection.either(ON_SQLITE, ON_POSTGRES);
    let told = connection.all(find, parameters, |columns| columns.value());
    Ok(HashSet::from_iter(told.await?))
}

pub const ON_SQLITE: &str = "
    SELECT value FROM json_each(:threads) WHERE EXISTS (
        SELECT 1 FROM post_text
        WHERE post_text MATCH :text || ' AND place : t' || value AND post_text.rowid BETWEEN :first AND :last
    )";

const ON_POSTGRES: &str =
    "SELECT thread_id FROM threads_with_match(CAST(:threads AS TEXT)::jsonb, :text, :first, :last)";
