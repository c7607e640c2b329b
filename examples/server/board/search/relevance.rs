//! The best of the newest matches first.
//!
//! A walk ranks the same matches on every page: what is written meanwhile neither comes in nor drives anything out.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search, Show};
use rusqlite::{Connection, Row, named_params};

use super::super::position;
use super::super::settings::SEARCH_WINDOW;
use super::aim::Aim;
use super::terms::Terms;

/// A match, in the order of rank: by score, then by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    score: i64,
    post: i64,
    thread: i64,
}

/// What a page begins after: a score and a post.
type Place = (i64, i64);

/// A page of what is found.
pub fn page(connection: &Connection, aim: &Aim, search: &Search) -> Result<Page<i64>> {
    let window = SEARCH_WINDOW.get(connection)?.into();
    let (after, posts, rows): (Option<Place>, _, _) =
        match position::numbers(search.after.as_ref())? {
            None => (None, aim.posts.clone(), window),
            // Some may have been restored since.
            Some([score, post, first, last]) => (Some((score, post)), first..=last, 2 * window),
        };
    let mut matches = find(connection, &aim.expression(), &posts, rows, search)?;
    let ranked = match after {
        None => span(&matches),
        Some(_) => posts,
    };
    rank(&mut matches, search.show);
    matches.retain(|found| after.is_none_or(|after| (found.score, found.post) < after));
    let (first, last) = (ranked.start(), ranked.end());
    let page = Page::cut(matches, search.limit, |Ranked { score, post, .. }| {
        Position::new(format_args!("{score}.{post}.{first}.{last}"))
    });
    Ok(Page {
        items: page.items.iter().map(|found| found.post).collect(),
        next: page.next,
    })
}

/// From the oldest to the newest of the `matches`, which come newest first.
fn span(matches: &[Ranked]) -> RangeInclusive<i64> {
    let ends = matches.last().zip(matches.first());
    ends.map_or(0..=0, |(oldest, newest)| oldest.post..=newest.post)
}

/// Puts the best first, of each thread the best alone where threads are shown.
fn rank(matches: &mut Vec<Ranked>, show: Show) {
    matches.sort_unstable_by_key(|found| Reverse(*found));
    if show == Show::Threads {
        let mut threads = HashSet::new();
        matches.retain(|found| threads.insert(found.thread));
    }
}

pub const WINDOW: &str = "
    SELECT
        post.id, post.thread_id, post.body_words,
        iif(post.number = 1, (SELECT title_words FROM thread WHERE thread.id = post.thread_id), '')
    FROM post_text CROSS JOIN post ON post.id = post_text.rowid
    WHERE post_text MATCH :expression AND post_text.rowid BETWEEN :first AND :last
    ORDER BY post_text.rowid DESC LIMIT :rows";

/// The newest matches among `posts`, newest first.
fn find(
    connection: &Connection,
    expression: &str,
    posts: &RangeInclusive<i64>,
    rows: i64,
    search: &Search,
) -> Result<Vec<Ranked>> {
    let terms = Terms::of(search);
    let mut query = connection.prepare_cached(WINDOW)?;
    let parameters = named_params! {
        ":expression": expression,
        ":first": posts.start(),
        ":last": posts.end(),
        ":rows": rows,
    };
    let found = query.query_map(parameters, |row| score(row, &terms))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The texts stay where they are.
fn score(row: &Row<'_>, terms: &Terms) -> rusqlite::Result<Ranked> {
    let (body, title) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
    Ok(Ranked {
        score: terms.score(title, body),
        post: row.get(0)?,
        thread: row.get(1)?,
    })
}
