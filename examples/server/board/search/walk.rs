//! The newest, or the oldest, matches first: they come out of the index in that order, and no more of them than a page
//! needs.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search, Show};
use rusqlite::{Connection, Row, named_params};

use super::super::position;
use super::super::settings::SEARCH_WINDOW;
use super::aim::Aim;

/// Which way a search walks.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// From the newest match to the oldest.
    Back,
    /// From the oldest match to the newest.
    Forth,
}

/// A post that matches.
struct Match {
    post: i64,
    thread: i64,
    /// Whether its thread was a hit on an earlier page.
    is_told: bool,
}

/// A page of what is found; one for which a whole window of matches was passed over is short.
pub fn page(connection: &Connection, aim: &Aim, search: &Search, way: Way) -> Result<Page<i64>> {
    let window = SEARCH_WINDOW.get(connection)? as usize;
    let (walked, ahead) = match position::numbers(search.after.as_ref())? {
        Some([post]) => way.split(&aim.posts, post),
        None => (None, aim.posts.clone()),
    };
    let walked = walked.filter(|_| search.show == Show::Threads);
    let mut query = connection.prepare_cached(way.matches())?;
    let parameters = named_params! {
        ":expression": aim.expression(),
        ":first": ahead.start(),
        ":last": ahead.end(),
        ":text": aim.text,
        ":first_walked": walked.as_ref().map(RangeInclusive::start),
        ":last_walked": walked.as_ref().map(RangeInclusive::end),
    };
    let mut matches = query.query_map(parameters, Match::read)?;
    let (hits, last) = hits(matches.by_ref().take(window), search)?;
    let more = matches.next().transpose()?;
    let mut page = Page::cut(hits, search.limit, |post| Position::new(post));
    page.next = page.next.or_else(|| more.and(last).map(Position::new));
    Ok(page)
}

/// The hits among the `matches`, one more than a page holds at most, and the last match that was looked at. A thread is
/// a hit by the first of its matches on the way; the others are passed over.
fn hits(
    matches: impl Iterator<Item = rusqlite::Result<Match>>,
    search: &Search,
) -> rusqlite::Result<(Vec<i64>, Option<i64>)> {
    let (mut hits, mut threads, mut last) = (Vec::new(), HashSet::new(), None);
    for found in matches {
        let found = found?;
        let is_news = !found.is_told && threads.insert(found.thread);
        if is_news || search.show == Show::Posts {
            hits.push(found.post);
        }
        last = Some(found.post);
        if hits.len() > search.limit.get() {
            break;
        }
    }
    Ok((hits, last))
}

impl Match {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            post: row.get(0)?,
            thread: row.get(1)?,
            is_told: row.get(2)?,
        })
    }
}

/// A span of posts.
type Posts = RangeInclusive<i64>;

impl Way {
    /// Which of the `posts` stand on the way up to `post`, and which behind it.
    fn split(self, posts: &Posts, post: i64) -> (Option<Posts>, Posts) {
        let (first, last) = (*posts.start(), *posts.end());
        match self {
            Self::Back => (Some(post..=last), first..=post.saturating_sub(1)),
            Self::Forth => (Some(first..=post), post.saturating_add(1)..=last),
        }
    }

    /// The matches along the way.
    pub fn matches(self) -> &'static str {
        static BACK: LazyLock<String> = LazyLock::new(|| matches("DESC"));
        static FORTH: LazyLock<String> = LazyLock::new(|| matches("ASC"));
        match self {
            Self::Back => &BACK,
            Self::Forth => &FORTH,
        }
    }
}

fn matches(order: &str) -> String {
    format!(
        "SELECT post.id, post.thread_id, :first_walked IS NOT NULL AND (
            SELECT TRUE FROM post_text
            WHERE post_text MATCH :text || ' AND place : t' || post.thread_id
                AND post_text.rowid BETWEEN :first_walked AND :last_walked
            ORDER BY post_text.rowid {order} LIMIT 1
        ) IS NOT NULL
        FROM post_text CROSS JOIN post ON post.id = post_text.rowid
        WHERE post_text MATCH :expression AND post_text.rowid BETWEEN :first AND :last
        ORDER BY post_text.rowid {order}"
    )
}
