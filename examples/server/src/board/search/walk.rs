//! The newest, or the oldest, matches first: they come out of the index in that order, and no more of them than a page
//! needs.
//!
//! FTS5 looks up each forum of a query beside each match, and decodes the posts of the forum between two matches. The
//! cost of a search in some of many forums therefore grows with forums and posts, even if the word is rare. So a search
//! on SQLite first reads matches of all forums and drops those in forums that it leaves out. Only when it has dropped
//! most of many matches, it names the forums to FTS5: then both the word and the posts of other forums are common.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::vec::IntoIter;

use forum_api::host::Result;
use forum_api::model::{Page, Position, Search};

use super::super::db::{self, Columns, Connection, bind};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The post.
    pub post: i64,
    /// Its thread.
    pub thread: i64,
}

/// Number of matches of all forums that a search reads at first, or the number of rows that it wants if that is more.
const CANDIDATES: i64 = 100;

/// Maximum number of matches of all forums that a search reads before it names the forums to FTS5, as a multiple of the
/// rows that it wants, or of [`CANDIDATES`] if that is more. Eight of them take FTS5 as long as one in a named forum.
const MOST: i64 = 8;

/// A page of the posts that are found. It begins after a post.
pub async fn page(
    connection: &Connection<'_>,
    aim: &Aim,
    search: &Search,
    way: Way,
) -> Result<Page<i64>> {
    let ahead = match position::numbers(search.after.as_ref())? {
        Some([post]) => way.ahead(&aim.posts, way.next(post)),
        None => aim.posts.clone(),
    };
    let rows = position::rows(search.limit);
    let matches = way.matches(connection, aim, &ahead, rows).await?;
    let posts = matches.into_iter().map(|found| found.post).collect();
    Ok(Page::cut(posts, search.limit, |post| Position::new(post)))
}

/// The matches along a way, one after the other: they are read in steps, each four times as long as the one before.
#[derive(Debug)]
pub struct Matches<'a> {
    connection: &'a Connection<'a>,
    aim: &'a Aim,
    way: Way,
    ahead: RangeInclusive<i64>,
    step: i64,
    read: IntoIter<Match>,
    more: bool,
}

impl<'a> Matches<'a> {
    /// Those of the posts `ahead`. The first step reads so many.
    pub fn new(
        connection: &'a Connection<'a>,
        aim: &'a Aim,
        way: Way,
        ahead: RangeInclusive<i64>,
        step: i64,
    ) -> Self {
        Self {
            connection,
            aim,
            way,
            ahead,
            step,
            read: Vec::new().into_iter(),
            more: true,
        }
    }

    /// The next one; `None` at the end of the way.
    pub async fn next(&mut self) -> db::Result<Option<Match>> {
        if self.more && self.read.as_slice().is_empty() {
            self.read_on().await?;
        }
        Ok(self.read.next())
    }

    async fn read_on(&mut self) -> db::Result<()> {
        let Self {
            connection,
            aim,
            ahead,
            step,
            ..
        } = self;
        let read = self.way.matches(connection, aim, ahead, *step).await?;
        self.more = read.len() as i64 == *step;
        if let Some(last) = read.last() {
            self.ahead = self.way.ahead(ahead, self.way.next(last.post));
        }
        self.step *= 4;
        self.read = read.into_iter();
        Ok(())
    }
}

impl Way {
    /// The first matches along the way, so many at most.
    pub async fn matches(
        self,
        connection: &Connection<'_>,
        aim: &Aim,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> db::Result<Vec<Match>> {
        match (connection, &aim.forums) {
            (Connection::Sqlite(_), Some(forums)) => {
                self.matches_in(forums, connection, aim, ahead, rows).await
            }
            _ => {
                let place = &aim.place;
                self.read(connection, (&aim.text, place), ahead, rows, Match::read)
                    .await
            }
        }
    }

    /// The first matches in `forums`, on SQLite.
    async fn matches_in(
        self,
        forums: &BTreeSet<i64>,
        connection: &Connection<'_>,
        aim: &Aim,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> db::Result<Vec<Match>> {
        let (mut found, mut looked_at, mut ahead) = (Vec::new(), 0, ahead.clone());
        let mut step = rows.max(CANDIDATES);
        let most = step * MOST;
        while looked_at + step <= most {
            let anywhere = (&*aim.text, &*aim.anywhere);
            let candidates = self
                .read(connection, anywhere, &ahead, step, |columns| {
                    Ok((Match::read(columns)?, columns.value()?))
                })
                .await?;
            let is_end = (candidates.len() as i64) < step;
            looked_at += step;
            if let Some((last, _)) = candidates.last() {
                ahead = self.ahead(&ahead, self.next(last.post));
            }
            let candidates = candidates.into_iter();
            let seen = candidates.filter(|(_, forum)| forums.contains(forum));
            found.extend(seen.map(|(found, _)| found));
            found.truncate(rows as usize);
            let missing = rows - found.len() as i64;
            if is_end || missing == 0 {
                return Ok(found);
            }
            // As many as contain the missing rows, if the next matches are like those so far.
            step = CANDIDATES.max(missing * looked_at / (found.len() as i64).max(1));
        }
        let place = (&*aim.text, &*aim.place);
        let missing = rows - found.len() as i64;
        let rest = self.read(connection, place, &ahead, missing, Match::read);
        found.extend(rest.await?);
        Ok(found)
    }

    /// Reads the first rows that match a text in a place.
    async fn read<T>(
        self,
        connection: &Connection<'_>,
        (text, place): (&str, &str),
        ahead: &RangeInclusive<i64>,
        rows: i64,
        read: impl FnMut(&mut Columns<'_>) -> db::Result<T> + Send,
    ) -> db::Result<Vec<T>> {
        let parameters = bind! {
            ":text": text,
            ":place": place,
            ":first": ahead.start(),
            ":last": ahead.end(),
            ":rows": rows,
        };
        let find = connection.either(self.on_sqlite(), self.on_postgres());
        connection.all(find, parameters, read).await
    }

    /// What asks SQLite for them.
    pub fn on_sqlite(self) -> &'static str {
        static BACK: LazyLock<String> = LazyLock::new(|| on_sqlite("DESC"));
        static FORTH: LazyLock<String> = LazyLock::new(|| on_sqlite("ASC"));
        match self {
            Self::Back => &BACK,
            Self::Forth => &FORTH,
        }
    }

    const fn on_postgres(self) -> &'static str {
        match self {
            Self::Back => {
                "
                SELECT post_id, thread_id
                FROM matches(:text, CAST(:place AS TEXT)::jsonb, :first, :last, :rows, -1)"
            }
            Self::Forth => {
                "
                SELECT post_id, thread_id
                FROM matches(:text, CAST(:place AS TEXT)::jsonb, :first, :last, :rows, 1)"
            }
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

impl Match {
    fn read(columns: &mut Columns<'_>) -> db::Result<Self> {
        Ok(Self {
            post: columns.value()?,
            thread: columns.value()?,
        })
    }
}

fn on_sqlite(order: &str) -> String {
    format!(
        "SELECT rowid, thread_id, forum_id FROM post_text
        WHERE post_text MATCH :text || :place AND rowid BETWEEN :first AND :last
        ORDER BY rowid {order} LIMIT :rows"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use send_wrapper::SendWrapper;

    use super::super::super::schema;
    use super::{Aim, Connection, Match, Way};

    /// The number of posts that say "tea": one of `every` is in thread 2 of forum 2, the others in thread 1 of forum 1.
    fn board(posts: i64, every: i64) -> rusqlite::Connection {
        let board = schema::in_memory();
        for id in [1, 2] {
            board
                .execute_batch(&format!(
                    "INSERT INTO forum (id, position, title, description) VALUES ({id}, {id}, '', '');
                    INSERT INTO thread (id, forum_id, title, title_words, state, created_at, last_activity_at)
                    VALUES ({id}, {id}, '', '', 'visible', 0, 0)"
                ))
                .unwrap();
        }
        let add = "
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
            INSERT INTO post (id, thread_id, number, state, created_at, ordered_at, body, body_html, body_words)
            SELECT n, iif(n % ?2 = 0, 2, 1), n + 1, 'visible', n, n, '', '', 'tea' FROM number";
        board.execute(add, [posts, every]).unwrap();
        board
    }

    /// A search for "tea" in forum 2, which names the forum to FTS5 by `place`.
    fn aim(place: &str) -> Aim {
        Aim {
            text: "body : \"tea\"".into(),
            place: place.into(),
            anywhere: String::new(),
            forums: Some(BTreeSet::from([2])),
            posts: i64::MIN..=i64::MAX,
        }
    }

    #[tokio::test]
    async fn forums_are_named_to_the_index_only_after_most_of_many_matches_were_elsewhere() {
        for (posts, every, rows, named) in [
            (90, 90, 21, false),
            (2000, 2, 21, false),
            (2000, 8, 200, false),
            (2000, 500, 21, true),
        ] {
            let board = board(posts, every);
            let connection = Connection::Sqlite(SendWrapper::new(&board));
            // FTS5 refuses this place.
            let aim = aim(" AND (");
            let found = Way::Back.matches(&connection, &aim, &aim.posts, rows).await;
            assert_eq!(found.is_err(), named, "{posts} posts, 1 of {every}");
        }
    }

    #[tokio::test]
    async fn matches_in_some_forums_come_in_order_however_many_others_are_between() {
        for every in [1, 2, 7, 60, 700] {
            let board = board(1500, every);
            let connection = Connection::Sqlite(SendWrapper::new(&board));
            let aim = aim(" AND place : f2");
            for (first, last) in [(1, 1500), (300, 1400)] {
                for rows in [1, 21, 150, 2000] {
                    let mut there: Vec<i64> = (first..=last).filter(|id| id % every == 0).collect();
                    for way in [Way::Forth, Way::Back] {
                        let found = way.matches(&connection, &aim, &(first..=last), rows).await;
                        let expected = there.iter().take(rows as usize);
                        let expected: Vec<_> = expected
                            .map(|id| Match {
                                post: *id,
                                thread: 2,
                            })
                            .collect();
                        assert_eq!(found.unwrap(), expected, "{rows} of 1 in {every}, {way:?}");
                        there.reverse();
                    }
                }
            }
        }
    }
}
