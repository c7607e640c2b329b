//! The newest, or the oldest, matches first: they come out of the index in that order.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search, Show};
use rusqlite::{Connection, named_params};

use super::super::position;
use super::super::settings::SEARCH_WINDOW;
use super::aim::Aim;
use super::hits::json;

/// Which way a search walks.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// From the newest match to the oldest.
    Back,
    /// From the oldest match to the newest.
    Forth,
}

/// A post with its thread.
#[derive(Clone, Copy, Debug)]
struct Match {
    post: i64,
    thread: i64,
}

/// A page of what is found.
pub fn page(connection: &Connection, aim: &Aim, search: &Search, way: Way) -> Result<Page<i64>> {
    let after = position::numbers(search.after.as_ref())?;
    let (walked, ahead) = match after {
        Some([post]) => {
            let (walked, ahead) = way.split(&aim.posts, post);
            (Some(walked), ahead)
        }
        None => (None, aim.posts.clone()),
    };
    let find = |rows| find(connection, &aim.expression, way, &ahead, rows);
    match search.show {
        Show::Posts => {
            let posts = find(position::rows(search.limit))?;
            let posts = posts.iter().map(|found| found.post).collect();
            Ok(Page::cut(posts, search.limit, place))
        }
        Show::Threads => {
            let window = SEARCH_WINDOW.get(connection)?.into();
            let matches = find(window)?;
            let mut threads = firsts(&matches);
            if let Some(walked) = walked {
                let rows = position::rows(search.limit);
                threads = unwalked(connection, &aim.expression, &walked, &threads, rows)?;
            }
            let mut page = Page::cut(threads, search.limit, place);
            let last = matches.last().filter(|_| matches.len() as i64 == window);
            page.next = page.next.or(last.map(|found| place(&found.post)));
            Ok(page)
        }
    }
}

fn place(post: &i64) -> Position {
    Position::new(post)
}

impl Way {
    /// Which of `posts` stand on the way up to `post`, and which behind it.
    fn split(
        self,
        posts: &RangeInclusive<i64>,
        post: i64,
    ) -> (RangeInclusive<i64>, RangeInclusive<i64>) {
        let (first, last) = (*posts.start(), *posts.end());
        match self {
            Self::Back => (post..=last, first..=post.saturating_sub(1)),
            Self::Forth => (first..=post, post.saturating_add(1)..=last),
        }
    }

    fn matches(self) -> &'static str {
        match self {
            Self::Back => &BACK,
            Self::Forth => &FORTH,
        }
    }
}

pub(in super::super) static BACK: LazyLock<String> = LazyLock::new(|| matches("DESC"));
pub(in super::super) static FORTH: LazyLock<String> = LazyLock::new(|| matches("ASC"));

fn matches(order: &str) -> String {
    format!(
        "SELECT post.id, post.thread_id
        FROM post_text CROSS JOIN post ON post.id = post_text.rowid
        WHERE post_text MATCH :expression AND post_text.rowid BETWEEN :first AND :last
        ORDER BY post_text.rowid {order} LIMIT :rows"
    )
}

fn find(
    connection: &Connection,
    expression: &str,
    way: Way,
    posts: &RangeInclusive<i64>,
    rows: i64,
) -> Result<Vec<Match>> {
    let mut query = connection.prepare_cached(way.matches())?;
    let parameters = named_params! {
        ":expression": expression,
        ":first": posts.start(),
        ":last": posts.end(),
        ":rows": rows,
    };
    let found = query.query_map(parameters, |row| {
        let (post, thread) = (row.get(0)?, row.get(1)?);
        Ok(Match { post, thread })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The first post of each thread.
fn firsts(matches: &[Match]) -> Vec<i64> {
    let mut threads = HashSet::new();
    let firsts = matches.iter().filter(|found| threads.insert(found.thread));
    firsts.map(|found| found.post).collect()
}

/// Those of `posts` in whose threads nothing was found among the posts that were `walked` before.
pub(in super::super) const UNWALKED: &str = "
    SELECT post.id
    FROM json_each(:posts) AS found CROSS JOIN post ON post.id = found.value
    WHERE NOT EXISTS (
        SELECT 1 FROM post_text
        WHERE post_text MATCH :expression || ' AND place : t' || post.thread_id
            AND post_text.rowid BETWEEN :first AND :last
    )
    LIMIT :rows";

fn unwalked(
    connection: &Connection,
    expression: &str,
    walked: &RangeInclusive<i64>,
    posts: &[i64],
    rows: i64,
) -> Result<Vec<i64>> {
    let mut query = connection.prepare_cached(UNWALKED)?;
    let parameters = named_params! {
        ":posts": json(posts),
        ":expression": expression,
        ":first": walked.start(),
        ":last": walked.end(),
        ":rows": rows,
    };
    let found = query.query_map(parameters, |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
