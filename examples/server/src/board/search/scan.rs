//! Scans of matches by age.

use std::collections::HashSet;
use std::iter::zip;
use std::ops::ControlFlow::{Break, Continue};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter};

use super::filter::MatchCondition;
use crate::board::db::{Connection, Driver, Row, bind, json};

/// Order of a scan.
#[derive(Clone, Copy, Debug)]
pub enum ScanDirection {
    Descending,
    Ascending,
}

/// A match, ordered by score and age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    pub score: i64,
    pub post: i64,
    pub thread: i64,
}

/// Maximum number of matches of all forums that a search reads before it restricts FTS5 to the forums, as a multiple of
/// the rows. FTS5 reads eight unrestricted matches in the time of one restricted match.
const MAX_CANDIDATES_FACTOR: i64 = 8;

/// Minimum number of rows that [`MAX_CANDIDATES_FACTOR`] multiplies.
const MIN_CANDIDATES: i64 = 100;

/// Returns a page of posts after a post.
pub async fn page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<Match>> {
    let ahead = match search.after_ints()? {
        Some([post]) => direction.ahead(&filter.posts, direction.next(post)),
        None => filter.posts.clone(),
    };
    let rows = search.limit.plus_one();
    let matches = direction.matches(connection, filter, &ahead, rows).await?;
    Ok(Page::from_overfetch(matches, search.limit, |found| PageKey::new(found.post)))
}

impl ScanDirection {
    /// Reads the first matches.
    pub async fn matches(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> BoardResult<Vec<Match>> {
        match &connection.driver {
            Driver::Postgres(_) => self.matches_on_postgres(connection, filter, ahead, rows).await,
            Driver::Sqlite(_) => self.matches_on_sqlite(connection, filter, ahead, rows).await,
        }
    }

    async fn matches_on_postgres(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> BoardResult<Vec<Match>> {
        let way: i64 = match self {
            Self::Descending => -1,
            Self::Ascending => 1,
        };
        let parameters = bind! {
            ":text": filter.text, ":words": filter.words, ":place": filter.place,
            ":first": ahead.start(), ":last": ahead.end(), ":rows": rows, ":way": way,
        };
        let mut found = Vec::new();
        let read = |row: &Row<'_>| {
            let posts = row.numbers("posts")?;
            let threads = row.numbers("threads")?;
            let matches = zip(zip(posts, threads), row.numbers("scores")?);
            found.extend(matches.map(|((post, thread), score)| Match { score, post, thread }));
            Ok(Continue(()))
        };
        connection.each_row(ON_POSTGRES, parameters, read).await?;
        found.sort_unstable_by_key(|found| way * found.post);
        found.truncate(rows as usize);
        Ok(found)
    }

    /// Reads matches: first among those of all forums, then with a query that is restricted to the forums.
    async fn matches_on_sqlite(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        ahead: &RangeInclusive<i64>,
        rows: i64,
    ) -> BoardResult<Vec<Match>> {
        let most = rows.max(MIN_CANDIDATES) * MAX_CANDIDATES_FACTOR;
        let mut place = "";
        let mut ahead = ahead.clone();
        let mut found = Vec::new();
        loop {
            let missing = rows - found.len() as i64;
            let (matches, rest) =
                self.matches_in_place(connection, filter, place, &ahead, [missing, most]).await?;
            found.extend(matches);
            let Some(rest) = rest else {
                return Ok(found);
            };
            ahead = rest;
            place = &filter.place;
        }
    }

    /// Reads up to `rows` matches in visible threads of the searched forums, among the first `most` matches in `place`. Also
    /// returns the range of the remaining posts if `most` matches were read and fewer than `rows` are such matches.
    async fn matches_in_place(
        self,
        connection: &Connection<'_>,
        filter: &MatchCondition,
        place: &str,
        ahead: &RangeInclusive<i64>,
        [rows, most]: [i64; 2],
    ) -> BoardResult<(Vec<Match>, Option<RangeInclusive<i64>>)> {
        let mut found = Vec::new();
        let mut candidates = 0;
        let mut rest = None;
        let parameters = bind! {
            ":text": filter.text, ":place": place, ":first": ahead.start(), ":last": ahead.end(),
            ":rows": most,
        };
        let read = |row: &Row<'_>| {
            let post = row.value("id")?;
            let thread = row.value("thread_id")?;
            candidates += 1;
            if candidates == most {
                rest = Some(self.ahead(ahead, self.next(post)));
            }
            if row.value("is_visible")? && filter.forums.contains(&row.value("forum_id")?) {
                let words = |column| row.text(column).map(Option::unwrap_or_default);
                let score = filter.scorer.score(words("title_words")?, words("body_words")?);
                found.push(Match { score, post, thread });
            }
            let is_full = found.len() as i64 == rows;
            Ok(if is_full { Break(()) } else { Continue(()) })
        };
        let find: &str = match self {
            Self::Descending => &ON_SQLITE_DESCENDING,
            Self::Ascending => &ON_SQLITE_ASCENDING,
        };
        connection.each_row(find, parameters, read).await?;
        let rest = rest.filter(|_| (found.len() as i64) < rows);
        Ok((found, rest))
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

static ON_SQLITE_DESCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("DESC"));
static ON_SQLITE_ASCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("ASC"));

fn on_sqlite(order: &str) -> String {
    format!(
        "SELECT
            post.id, post.thread_id, thread.forum_id, thread.state = 'visible' AS is_visible,
            CASE WHEN post.number = 1 THEN thread.title_words ELSE '' END AS title_words, post.body_words
        FROM post_text
        CROSS JOIN post ON post.id = post_text.rowid
        CROSS JOIN thread ON thread.id = post.thread_id
        WHERE post_text MATCH :text || :place AND post_text.rowid BETWEEN :first AND :last
        ORDER BY post_text.rowid {order} LIMIT :rows"
    )
}

const ON_POSTGRES: &str = "
    SELECT posts, threads, scores FROM matches(:text, :words, :place, :first, :last, :rows, :way)";

/// Maximum number of threads that a page checks before it ends short, as a multiple of its limit.
const MAX_THREADS_FACTOR: usize = 10;

/// Returns a page of the first match of each thread.
pub async fn threads_page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<Match>> {
    let limit = search.limit.get();
    let after: Option<[i64; 2]> = search.after_ints()?;
    let mut ahead =
        after.map_or(filter.posts.clone(), |[from, _]| direction.ahead(&filter.posts, from));
    let behind = after.map(|[from, first_hit]| direction.behind(first_hit, from));
    let mut hits: Vec<Match> = Vec::new();
    let mut visited = HashSet::new();
    let mut more = true;
    let mut step = search.limit.plus_one();
    while more
        && hits.len() <= limit
        && (hits.len() < 2 || visited.len() < MAX_THREADS_FACTOR * limit)
    {
        let mut matches = direction.matches(connection, filter, &ahead, step).await?.into_iter();
        more = matches.len() as i64 == step;
        let mut found = Vec::new();
        while found.len() <= limit
            && let Some(next) = matches.next()
        {
            ahead = direction.ahead(&ahead, direction.next(next.post));
            if visited.insert(next.thread) {
                found.push(next);
            }
        }
        match matches.len() {
            0 => step *= 4,
            _ => more = true,
        }
        let earlier = with_earlier_match(connection, filter, behind.as_ref(), &found).await?;
        found.retain(|found| !earlier.contains(&found.thread));
        hits.extend(found);
    }
    let kept = if more { limit.min(hits.len().saturating_sub(1)) } else { limit };
    let first_hit = after.map(|[_, first_hit]| first_hit).or(hits.first().map(|hit| hit.post));
    let next = match (hits.get(kept), first_hit) {
        (Some(from), Some(first_hit)) => Some(PageKey::from([from.post, first_hit])),
        _ => None,
    };
    hits.truncate(kept);
    Ok(Page { items: hits, next })
}

/// Returns the threads of the `found` matches that have another match `behind`.
async fn with_earlier_match(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    behind: Option<&RangeInclusive<i64>>,
    found: &[Match],
) -> BoardResult<HashSet<i64>> {
    let Some(behind) = behind else {
        return Ok(HashSet::new());
    };
    let threads: Vec<i64> = found.iter().map(|found| found.thread).collect();
    let parameters = bind! {
        ":threads": json(&threads)?, ":text": filter.text, ":first": behind.start(),
        ":last": behind.end(),
    };
    let find = connection.dialect(EARLIER_ON_SQLITE, EARLIER_ON_POSTGRES);
    let earlier = connection.all(find, parameters, |row| row.value("thread_id")).await?;
    Ok(HashSet::from_iter(earlier))
}

const EARLIER_ON_SQLITE: &str = "
    SELECT value AS thread_id FROM json_each(:threads) WHERE EXISTS (
        SELECT 1 FROM post_text
        WHERE post_text MATCH :text || ' AND place : t' || value AND post_text.rowid BETWEEN :first AND :last
    )";

const EARLIER_ON_POSTGRES: &str =
    "SELECT thread_id FROM threads_with_match(:threads, :text, :first, :last)";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use forum_api::model::SearchQuery;

    use super::super::score::Scorer;
    use super::{Connection, MatchCondition, ScanDirection};
    use crate::board::schema;

    /// Creates a board with this number of posts, which all contain "tea". Of each `every` posts, one is in thread 2 of
    /// forum 2. The others are in thread 1 of forum 1.
    fn create_board(posts: i64, every: i64) -> rusqlite::Connection {
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
            INSERT INTO post (id, thread_id, number, state, created_at, written_at, body, body_html, body_words)
            SELECT n, iif(n % ?2 = 0, 2, 1), n + 1, 'visible', n, n, '', '', 'tea' FROM number";
        board.execute(add, [posts, every]).unwrap();
        board
    }

    /// Creates a search for "tea" in forum 2. `place` is the condition that restricts FTS5 to the forum.
    fn create_filter(place: &str) -> MatchCondition {
        MatchCondition {
            text: "body : \"tea\"".into(),
            words: String::new(),
            scorer: Scorer::of(&SearchQuery::parse("tea").unwrap()),
            place: place.into(),
            forums: BTreeSet::from([2]),
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
            let board = create_board(posts, every);
            let connection = Connection::sqlite(&board);
            // FTS5 rejects this condition, so the search fails if it passes the condition to FTS5.
            let filter = create_filter(" AND (");
            let found =
                ScanDirection::Descending.matches(&connection, &filter, &filter.posts, rows).await;
            assert_eq!(found.is_err(), named, "{posts} posts, 1 of {every}");
        }
    }

    #[tokio::test]
    async fn matches_in_some_forums_are_ordered_and_complete() {
        for every in [1, 2, 7, 60, 700] {
            let board = create_board(1500, every);
            let connection = Connection::sqlite(&board);
            let filter = create_filter(" AND place : f2");
            for (first, last) in [(1, 1500), (300, 1400)] {
                for rows in [1, 21, 150, 2000] {
                    let mut there: Vec<i64> = (first..=last).filter(|id| id % every == 0).collect();
                    for direction in [ScanDirection::Ascending, ScanDirection::Descending] {
                        let ahead = first..=last;
                        let matches =
                            direction.matches(&connection, &filter, &ahead, rows).await.unwrap();
                        let found = matches.iter().map(|found| (found.post, found.thread));
                        let expected = there.iter().take(rows as usize).map(|id| (*id, 2));
                        assert!(found.eq(expected), "{rows} of 1 in {every}, {direction:?}");
                        there.reverse();
                    }
                }
            }
        }
    }
}
