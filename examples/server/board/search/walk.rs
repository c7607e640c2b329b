//! The newest, or the oldest, matches first: they come out of the index in that order, and no more of them than a page
//! needs.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search};
use rusqlite::{Connection, Row};

use super::super::position;
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
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// The post.
    pub post: i64,
    /// Its thread.
    pub thread: i64,
}

/// A page of the posts that are found. It begins after a post.
pub fn page(connection: &Connection, aim: &Aim, search: &Search, way: Way) -> Result<Page<i64>> {
    let ahead = match position::numbers(search.after.as_ref())? {
        Some([post]) => way.ahead(&aim.posts, way.next(post)),
        None => aim.posts.clone(),
    };
    let mut query = connection.prepare_cached(way.matches())?;
    let matches = query.query_map((aim.expression(), ahead.start(), ahead.end()), Match::read)?;
    let posts = matches.map(|found| Ok(found?.post));
    let posts = posts.take(search.limit.get() + 1);
    let posts = posts.collect::<rusqlite::Result<_>>()?;
    Ok(Page::cut(posts, search.limit, |post| Position::new(post)))
}

impl Match {
    /// One that [`Way::matches`] gives.
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            post: row.get(0)?,
            thread: row.get(1)?,
        })
    }
}

impl Way {
    /// The matches along the way.
    pub fn matches(self) -> &'static str {
        static BACK: LazyLock<String> = LazyLock::new(|| matches("DESC"));
        static FORTH: LazyLock<String> = LazyLock::new(|| matches("ASC"));
        match self {
            Self::Back => &BACK,
            Self::Forth => &FORTH,
        }
    }

    /// What comes right after `post`.
    pub const fn next(self, post: i64) -> i64 {
        match self {
            Self::Back => post.saturating_sub(1),
            Self::Forth => post.saturating_add(1),
        }
    }

    /// Those of the `posts` that the way leads to from `post` on.
    pub const fn ahead(self, posts: &RangeInclusive<i64>, post: i64) -> RangeInclusive<i64> {
        match self {
            Self::Back => *posts.start()..=post,
            Self::Forth => post..=*posts.end(),
        }
    }

    /// The posts from `first` on that the way leads to before `last`.
    pub const fn behind(self, first: i64, last: i64) -> RangeInclusive<i64> {
        match self {
            Self::Back => last.saturating_add(1)..=first,
            Self::Forth => first..=last.saturating_sub(1),
        }
    }
}

fn matches(order: &str) -> String {
    format!(
        "SELECT post.id, post.thread_id
        FROM post_text CROSS JOIN post ON post.id = post_text.rowid
        WHERE post_text MATCH ?1 AND post_text.rowid BETWEEN ?2 AND ?3
        ORDER BY post_text.rowid {order}"
    )
}
