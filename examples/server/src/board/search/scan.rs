//! Scans of matches by age, which read the index in steps.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::vec::IntoIter;

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter};

use super::filter::MatchCondition;
use super::hits::json;
use crate::board::db::{self, Connection, Driver, RowReader, bind};

/// Order of a scan.
#[derive(Clone, Copy, Debug)]
pub enum ScanDirection {
    Descending,
    Ascending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub post: i64,
    pub thread: i64,
}

/// Minimum number of matches of all forums in the first step of a search. A request for more rows reads that number of
/// rows in the first step.
const CANDIDATES: i64 = 100;

/// Maximum number of matches of all forums that a search reads before it restricts FTS5 to the forums, as a multiple of
/// the first step. FTS5 reads eight unrestricted matches in the time of one restricted match.
const MAX_CANDIDATES_FACTOR: i64 = 8;

/// Returns a page of posts after a post.
pub async fn page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<i64>> {
    let ahead = match search.after_ints()? {
        Some([post]) => direction.ahead(&filter.posts, direction.next(post)),
        None => filter.posts.clone(),
    };
    let rows = search.limit.plus_one();
    let posts = direction.posts(connection, filter, &ahead, rows).await?;
    Ok(Page::from_overfetch(posts, search.limit, |post| {
        PageKey::new(post)
    }))
}

/// Matches in order, read in steps. Each step reads four times as many matches as the previous one.
#[derive(Debug)]
pub struct MatchScan<'a> {
    connection: &'a Connection<'a>,
    filter: &'a MatchCondition,
    direction: ScanDirection,
    ahead: RangeInclusive<i64>,
    step: i64,
    read: IntoIter<Match>,
    more: bool,
}

impl<'a> MatchScan<'a> {
    /// Scans these posts. The first step reads `step` matches.
    pub fn new(
        connection: &'a Connection<'a>,
        filter: &'a MatchCondition,
        direction: ScanDirection,
        ahead: RangeInclusive<i64>,
        step: i64,
    ) -> Self {
        Self {
            connection,
            filter,
            direction,
            ahead,
            step,
            read: Vec::new().into_iter(),
            more: true,
        }
    }

    /// Returns the next match.
    pub async fn next(&mut self) -> db::DbResult<Option<Match>> {
        if self.more && self.read.as_slice().is_empty() {
            self.read_next_step().await?;
        }
        Ok(self.read.next())
    }

    async fn read_next_step(&mut self) -> db::DbResult<()> {
        let Self {
            connection,
            filter,
            ahead,
            step,
            ..
        } = self;
        let read = self
            .direction
            .matches(connection, filter, ahead, *step)
            .await?;
        self.more = read.len() as i64 == *step;
        if let Some(last) = read.last() {
            self.ahead = self.direction.ahead(ahead, self.direction.next(last.post));
        }
        self.step *= 4;
        self.read = read.into_iter();
        Ok(())
    }
}

impl ScanDirection {
    /// Reads the ids of the first matches.
    pub async fn posts(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> db::DbResult<Vec<i64>> {
        if filter.forums.is_none() {
            let find = connection.dialect(self.posts_on_sqlite(), self.on_postgres());
            let text = (&*filter.text, &*filter.place);
            return read(connection, find, text, ahead, rows, |row| row.value()).await;
        }
        let matches = self.matches(connection, filter, ahead, rows).await?;
        Ok(matches.into_iter().map(|found| found.post).collect())
    }

    pub async fn matches(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> db::DbResult<Vec<Match>> {
        match (&connection.driver, &filter.forums) {
            (Driver::Sqlite(_), Some(forums)) => {
                self.matches_in(forums, connection, filter, ahead, rows)
                    .await
            }
            _ => {
                let find = connection.dialect(self.on_sqlite(), self.on_postgres());
                let text = (&*filter.text, &*filter.place);
                read(connection, find, text, ahead, rows, Match::read).await
            }
        }
    }

    /// Reads the first matches in `forums`, on SQLite.
    async fn matches_in(
        self,
        forums: &BTreeSet<i64>,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> db::DbResult<Vec<Match>> {
        let find = self.on_sqlite();
        let (mut found, mut candidates_read, mut ahead) = (Vec::new(), 0, ahead.clone());
        let mut step = rows.max(CANDIDATES);
        let most = step * MAX_CANDIDATES_FACTOR;
        while candidates_read + step <= most {
            let text = (&*filter.text, &*filter.place_without_forums);
            let candidates = read(connection, find, text, &ahead, step, |row| {
                Ok((Match::read(row)?, row.value()?))
            })
            .await?;
            let is_end = (candidates.len() as i64) < step;
            candidates_read += step;
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
            // Expects the missing rows at the frequency of the rows so far.
            step = CANDIDATES.max(missing * candidates_read / (found.len() as i64).max(1));
        }
        let place = (&*filter.text, &*filter.place);
        let missing = rows - found.len() as i64;
        let rest = read(connection, find, place, &ahead, missing, Match::read);
        found.extend(rest.await?);
        Ok(found)
    }

    fn on_sqlite(self) -> &'static str {
        static DESCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite(MATCH_COLUMNS, "DESC"));
        static ASCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite(MATCH_COLUMNS, "ASC"));
        match self {
            Self::Descending => &DESCENDING,
            Self::Ascending => &ASCENDING,
        }
    }

    fn posts_on_sqlite(self) -> &'static str {
        static DESCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("rowid", "DESC"));
        static ASCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("rowid", "ASC"));
        match self {
            Self::Descending => &DESCENDING,
            Self::Ascending => &ASCENDING,
        }
    }

    const fn on_postgres(self) -> &'static str {
        match self {
            Self::Descending => {
                "
                SELECT post_id, thread_id
                FROM matches(:text, CAST(:place AS TEXT)::jsonb, :first, :last, :rows, -1)"
            }
            Self::Ascending => {
                "
                SELECT post_id, thread_id
                FROM matches(:text, CAST(:place AS TEXT)::jsonb, :first, :last, :rows, 1)"
            }
        }
    }

    pub const fn next(self, post: i64) -> i64 {
        match self {
            Self::Descending => post.saturating_sub(1),
            Self::Ascending => post.saturating_add(1),
        }
    }

    /// Returns the range of the posts from `post` on.
    pub const fn ahead(self, posts: &RangeInclusive<i64>, post: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => *posts.start()..=post,
            Self::Ascending => post..=*posts.end(),
        }
    }

    /// Returns the range of the posts from `first` until before `last`.
    pub const fn behind(self, first: i64, last: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => last.saturating_add(1)..=first,
            Self::Ascending => first..=last.saturating_sub(1),
        }
    }
}

impl Match {
    fn read(row: &mut RowReader<'_>) -> db::DbResult<Self> {
        Ok(Self {
            post: row.value()?,
            thread: row.value()?,
        })
    }
}

/// Reads the first rows of a query that match the text and the place.
async fn read<T: Send>(
    connection: &Connection<'_>,
    find: &'static str,
    (text, place): (&str, &str),
    ahead: &RangeInclusive<i64>,
    rows: i64,
    read: impl FnMut(&mut RowReader<'_>) -> db::DbResult<T> + Send,
) -> db::DbResult<Vec<T>> {
    let parameters = bind! {
        ":text": text, ":place": place, ":first": ahead.start(), ":last": ahead.end(),
        ":rows": rows,
    };
    connection.all(find, parameters, read).await
}

/// Columns of a match. FTS5 reads all except the first from a separate table, which takes three times as long as the
/// match.
const MATCH_COLUMNS: &str = "rowid, thread_id, forum_id";

fn on_sqlite(columns: &str, order: &str) -> String {
    format!(
        "SELECT {columns} FROM post_text
        WHERE post_text MATCH :text || :place AND rowid BETWEEN :first AND :last
        ORDER BY rowid {order} LIMIT :rows"
    )
}

/// Maximum number of threads that a page checks before it ends short, as a multiple of its limit.
const MAX_THREADS_FACTOR: usize = 10;

/// Returns a page of the first match of each thread.
pub async fn threads_page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<i64>> {
    let limit = search.limit.get();
    let after: Option<[i64; 2]> = search.after_ints()?;
    let ahead = after.map_or(filter.posts.clone(), |[from, _]| {
        direction.ahead(&filter.posts, from)
    });
    let behind = after.map(|[from, first_hit]| direction.behind(first_hit, from));
    let mut matches = MatchScan::new(
        connection,
        filter,
        direction,
        ahead,
        search.limit.plus_one(),
    );
    let (mut hits, mut visited, mut more) = (Vec::new(), HashSet::new(), true);
    while more
        && hits.len() <= limit
        && (hits.len() < 2 || visited.len() < MAX_THREADS_FACTOR * limit)
    {
        let found = next_threads(&mut matches, &mut visited, limit + 1).await?;
        more = found.len() > limit;
        let earlier = with_earlier_match(connection, filter, behind.as_ref(), &found).await?;
        let new = found
            .iter()
            .filter(|found| !earlier.contains(&found.thread));
        hits.extend(new.map(|found| found.post));
    }
    let kept = match more {
        true => limit.min(hits.len().saturating_sub(1)),
        false => limit,
    };
    let first_hit = after
        .map(|[_, first_hit]| first_hit)
        .or(hits.first().copied());
    let next = hits
        .get(kept)
        .zip(first_hit)
        .map(|(from, first_hit)| PageKey::from([*from, first_hit]));
    hits.truncate(kept);
    Ok(Page { items: hits, next })
}

/// Returns the first matches of further threads, which it adds to `visited`.
async fn next_threads(
    matches: &mut MatchScan<'_>,
    visited: &mut HashSet<i64>,
    most: usize,
) -> db::DbResult<Vec<Match>> {
    let mut matches_of_threads = Vec::new();
    while matches_of_threads.len() < most
        && let Some(found) = matches.next().await?
    {
        if visited.insert(found.thread) {
            matches_of_threads.push(found);
        }
    }
    Ok(matches_of_threads)
}

/// Returns the threads of the `found` matches that have another match `behind`.
async fn with_earlier_match(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    behind: Option<&RangeInclusive<i64>>,
    found: &[Match],
) -> db::DbResult<HashSet<i64>> {
    let Some(behind) = behind else {
        return Ok(HashSet::new());
    };
    let threads: Vec<i64> = found.iter().map(|found| found.thread).collect();
    let parameters = bind! {
        ":threads": json(&threads), ":text": filter.text, ":first": behind.start(),
        ":last": behind.end(),
    };
    let find = connection.dialect(EARLIER_ON_SQLITE, EARLIER_ON_POSTGRES);
    let earlier = connection.all(find, parameters, |row| row.value());
    Ok(HashSet::from_iter(earlier.await?))
}

const EARLIER_ON_SQLITE: &str = "
    SELECT value FROM json_each(:threads) WHERE EXISTS (
        SELECT 1 FROM post_text
        WHERE post_text MATCH :text || ' AND place : t' || value AND post_text.rowid BETWEEN :first AND :last
    )";

const EARLIER_ON_POSTGRES: &str =
    "SELECT thread_id FROM threads_with_match(CAST(:threads AS TEXT)::jsonb, :text, :first, :last)";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Connection, Match, MatchCondition, ScanDirection};
    use crate::board::schema;

    /// Creates a board with this number of posts, which all contain "tea". Of each `every` posts, one is in thread 2 of
    /// forum 2. The others are in thread 1 of forum 1.
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

    /// Creates a search for "tea" in forum 2. `place` is the condition that restricts FTS5 to the forum.
    fn filter(place: &str) -> MatchCondition {
        MatchCondition {
            text: "body : \"tea\"".into(),
            place: place.into(),
            place_without_forums: String::new(),
            forums: Some(BTreeSet::from([2])),
            posts: i64::MIN..=i64::MAX,
        }
    }

    #[tokio::test]
    async fn the_index_filters_by_forum_only_after_most_of_many_matches_were_in_other_forums() {
        for (posts, every, rows, named) in [
            (90, 90, 21, false),
            (2000, 2, 21, false),
            (2000, 8, 200, false),
            (2000, 500, 21, true),
        ] {
            let board = board(posts, every);
            let connection = Connection::sqlite(&board);
            // FTS5 rejects this condition, so the search fails if it passes the condition to FTS5.
            let filter = filter(" AND (");
            let found = ScanDirection::Descending
                .matches(&connection, &filter, &filter.posts, rows)
                .await;
            assert_eq!(found.is_err(), named, "{posts} posts, 1 of {every}");
        }
    }

    #[tokio::test]
    async fn matches_in_some_forums_are_ordered_and_complete() {
        for every in [1, 2, 7, 60, 700] {
            let board = board(1500, every);
            let connection = Connection::sqlite(&board);
            let filter = filter(" AND place : f2");
            for (first, last) in [(1, 1500), (300, 1400)] {
                for rows in [1, 21, 150, 2000] {
                    let mut there: Vec<i64> = (first..=last).filter(|id| id % every == 0).collect();
                    for direction in [ScanDirection::Ascending, ScanDirection::Descending] {
                        let found = direction
                            .matches(&connection, &filter, &(first..=last), rows)
                            .await;
                        let expected: Vec<_> = there
                            .iter()
                            .take(rows as usize)
                            .map(|id| Match {
                                post: *id,
                                thread: 2,
                            })
                            .collect();
                        assert_eq!(
                            found.unwrap(),
                            expected,
                            "{rows} of 1 in {every}, {direction:?}"
                        );
                        there.reverse();
                    }
                }
            }
        }
    }
}
