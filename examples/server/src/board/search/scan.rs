//! Scans of matches by age.

use std::ops::ControlFlow::{Break, Continue};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::BoardResult;

use super::filter::{Match, MatchCondition, read_range};
use super::thread_span::ThreadSpan;
use super::work::Work;
use crate::board::db::{Connection, Driver, Row, bind};

/// Order of a scan.
#[derive(Clone, Copy, Debug)]
pub enum ScanDirection {
    Descending,
    Ascending,
}

/// Scans of one page.
#[derive(Debug)]
pub struct Scan<'a> {
    pub connection: &'a Connection<'a>,
    pub filter: &'a MatchCondition,
    pub direction: ScanDirection,
    pub work: Work,
}

/// Result of a scan.
#[derive(Debug)]
pub struct Scanned {
    /// Matches in the order of the scan.
    pub matches: Vec<Match>,
    /// The posts that were not searched, because enough matches were found or the work of the page is done; `None` if all
    /// were searched.
    pub rest: Option<RangeInclusive<i64>>,
}

/// A query of the index.
#[derive(Debug)]
struct IndexQuery<'a> {
    text: String,
    lookups: i64,
    /// The only thread with matches, if there is one.
    thread: Option<&'a ThreadSpan>,
    /// Maximum number of candidates.
    max_candidates: usize,
}

/// Maximum number of candidates of all forums that a search reads before it restricts FTS5 to the forums, as a multiple of
/// the rows. FTS5 reads eight unrestricted candidates in the time of one restricted candidate.
const MAX_CANDIDATES_FACTOR: usize = 8;

/// Minimum number of rows that [`MAX_CANDIDATES_FACTOR`] multiplies.
const MIN_CANDIDATES: usize = 100;

/// Maximum number of forums to which a search restricts FTS5. Each is a lookup for each candidate.
const MAX_RESTRICTED_FORUMS: usize = 100;

/// Number of posts of a thread from which Postgres reads its matches in spans.
const MIN_POSTS_IN_SPANS: i64 = 1000;

/// Factor by which the number of candidates grows if they contain too few matches.
const CANDIDATES_GROWTH: usize = 4;

impl Scan<'_> {
    /// Reads up to `rows` matches. Reads at least one candidate unless the work of the page is done.
    pub async fn matches(
        &mut self,
        posts: RangeInclusive<i64>,
        rows: usize,
    ) -> BoardResult<Scanned> {
        let query = IndexQuery {
            text: self.filter.query.clone(),
            lookups: self.filter.lookups,
            thread: None,
            max_candidates: usize::MAX,
        };
        match &self.connection.driver {
            Driver::Postgres(_) => self.scan_postgres(&query, posts, rows).await,
            Driver::Sqlite(_) => self.scan_forums(query, posts, rows).await,
        }
    }

    /// Returns whether a thread has a match among the posts; `None` if the work of the page does not suffice to find out.
    pub async fn has_match(
        &mut self,
        thread: &ThreadSpan,
        posts: &RangeInclusive<i64>,
    ) -> BoardResult<Option<bool>> {
        let posts = thread.first.max(*posts.start())..=thread.last.min(*posts.end());
        if posts.is_empty() {
            return Ok(Some(false));
        }
        let query = IndexQuery {
            text: self.filter.query_in_thread(thread.thread),
            lookups: self.filter.lookups + 1,
            thread: Some(thread),
            max_candidates: usize::MAX,
        };
        if !self.work.is_enough(query.lookups, query.posts(&posts)) {
            return Ok(None);
        }
        let scanned = match &self.connection.driver {
            Driver::Postgres(_) => self.scan_postgres(&query, posts, 1).await?,
            Driver::Sqlite(_) => self.scan_sqlite(&query, posts, 1).await?,
        };
        let is_complete = scanned.rest.is_none();
        let has_match = !scanned.matches.is_empty();
        Ok((has_match || is_complete).then_some(has_match))
    }

    async fn scan_postgres(
        &mut self,
        query: &IndexQuery<'_>,
        posts: RangeInclusive<i64>,
        rows: usize,
    ) -> BoardResult<Scanned> {
        let mut scanned = Scanned { matches: Vec::new(), rest: Some(posts) };
        let mut candidates = rows;
        while let Some(posts) = scanned.rest.take() {
            if scanned.matches.len() == rows || self.work.is_spent() {
                scanned.rest = Some(posts);
                break;
            }
            let (mut found, rest) = self.candidates_on_postgres(query, &posts, candidates).await?;
            let missing = rows - scanned.matches.len();
            scanned.rest = match found.get(missing.saturating_sub(1)) {
                Some(last) if found.len() > missing => {
                    Some(self.direction.after(&posts, last.post))
                }
                _ => rest,
            };
            found.truncate(missing);
            scanned.matches.append(&mut found);
            candidates = candidates.saturating_mul(CANDIDATES_GROWTH);
        }
        Ok(scanned)
    }

    /// Returns the matches among the first candidates, in order, and the posts that were not searched.
    async fn candidates_on_postgres(
        &mut self,
        query: &IndexQuery<'_>,
        posts: &RangeInclusive<i64>,
        candidates: usize,
    ) -> BoardResult<(Vec<Match>, Option<RangeInclusive<i64>>)> {
        let way = self.direction.sign();
        let is_rare = query.thread.is_some_and(|thread| thread.posts < MIN_POSTS_IN_SPANS);
        let parameters = bind! {
            ":query": query.text, ":place": self.filter.place, ":first": posts.start(),
            ":last": posts.end(), ":candidates": candidates as i64, ":way": way,
            ":rare": is_rare, ":lookups": query.lookups, ":phrases": self.filter.text.phrases(),
            ":work": self.work.left(),
        };
        let mut found = Vec::new();
        let mut rest = None;
        let mut work = self.work.left();
        let mut read = |row: &Row<'_>| {
            match row.value("post")? {
                Some(post) => found.extend(self.filter.matched(row, post)?),
                None => {
                    rest = row.value("rest")?;
                    work = row.value("work")?;
                }
            }
            Ok(Continue(()))
        };
        let find: &str =
            if self.filter.has_times() { &ON_POSTGRES_WITH_TIMES } else { &ON_POSTGRES };
        self.connection.each_row(find, parameters, &mut read).await?;
        self.work.set_left(work);
        found.sort_unstable_by_key(|found| way * found.post);
        Ok((found, rest.map(|post| self.direction.ahead(posts, post))))
    }

    /// Reads matches: first among those of all forums, then with a query that is restricted to the forums.
    async fn scan_forums(
        &mut self,
        mut query: IndexQuery<'_>,
        posts: RangeInclusive<i64>,
        rows: usize,
    ) -> BoardResult<Scanned> {
        let restriction = &self.filter.place;
        let forums = self.filter.forums.len();
        if restriction.is_empty() || forums > MAX_RESTRICTED_FORUMS {
            return self.scan_sqlite(&query, posts, rows).await;
        }
        query.max_candidates = rows.max(MIN_CANDIDATES).saturating_mul(MAX_CANDIDATES_FACTOR);
        let mut scanned = self.scan_sqlite(&query, posts, rows).await?;
        if let Some(rest) = scanned.rest.take_if(|_| scanned.matches.len() < rows) {
            query.text.push_str(restriction);
            query.lookups += forums as i64;
            query.max_candidates = usize::MAX;
            let others = self.scan_sqlite(&query, rest, rows - scanned.matches.len()).await?;
            scanned.matches.extend(others.matches);
            scanned.rest = others.rest;
        }
        Ok(scanned)
    }

    async fn scan_sqlite(
        &mut self,
        query: &IndexQuery<'_>,
        posts: RangeInclusive<i64>,
        rows: usize,
    ) -> BoardResult<Scanned> {
        let posts = existing(self.connection, posts).await?;
        if posts.is_empty() || self.work.is_spent() {
            let rest = (!posts.is_empty()).then_some(posts);
            return Ok(Scanned { matches: Vec::new(), rest });
        }
        let searched = match query.thread {
            Some(_) => posts.clone(),
            None => self.direction.first(&posts, self.work.posts(query.lookups)),
        };
        let parameters =
            bind! { ":query": query.text, ":first": searched.start(), ":last": searched.end() };
        let mut matches = Vec::new();
        let mut candidates = 0;
        let mut last = None;
        let mut read = |row: &Row<'_>| {
            let post = row.value("post")?;
            candidates += 1;
            let title = row.text("title_words")?.unwrap_or_default();
            let body = row.text("body_words")?.unwrap_or_default();
            let length = title.len() + body.len();
            self.work.spend_candidate(length, self.filter.text.phrases());
            if row.value("is_visible")? && self.filter.forums.contains(&row.value("forum_id")?) {
                matches.extend(self.filter.matched(row, post)?);
            }
            if matches.len() == rows || candidates == query.max_candidates || self.work.is_spent() {
                last = Some(post);
                return Ok(Break(()));
            }
            Ok(Continue(()))
        };
        let find: &str = match self.direction {
            ScanDirection::Descending => &ON_SQLITE_DESCENDING,
            ScanDirection::Ascending => &ON_SQLITE_ASCENDING,
        };
        self.connection.each_row(find, parameters, &mut read).await?;
        let rest = match last {
            Some(last) => self.direction.after(&posts, last),
            None => self.direction.behind(&posts, &searched),
        };
        let passed = match last {
            Some(last) => self.direction.until(&posts, last),
            None => searched,
        };
        self.work.spend_query(query.lookups, query.posts(&passed));
        Ok(Scanned { matches, rest: (!rest.is_empty()).then_some(rest) })
    }
}

impl IndexQuery<'_> {
    /// Returns the number of posts in a range of ids that the query passes over.
    fn posts(&self, ids: &RangeInclusive<i64>) -> i64 {
        let count = ids.end().saturating_sub(*ids.start()).saturating_add(1);
        self.thread.map_or(count, |thread| count.min(thread.posts))
    }
}

/// Limits a range of ids to those of posts. Ids can have large gaps.
async fn existing(
    connection: &Connection<'_>,
    posts: RangeInclusive<i64>,
) -> BoardResult<RangeInclusive<i64>> {
    let find = "
        SELECT
            (SELECT id FROM post WHERE id >= ?1 ORDER BY id LIMIT 1) AS first,
            (SELECT id FROM post WHERE id <= ?2 ORDER BY id DESC LIMIT 1) AS last";
    connection.one(find, bind![posts.start(), posts.end()], read_range).await
}

impl ScanDirection {
    /// Returns 1 if ids ascend, and -1 if they descend.
    pub const fn sign(self) -> i64 {
        match self {
            Self::Descending => -1,
            Self::Ascending => 1,
        }
    }

    /// Returns the posts from `post` on.
    pub const fn ahead(self, posts: &RangeInclusive<i64>, post: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => *posts.start()..=post,
            Self::Ascending => post..=*posts.end(),
        }
    }

    /// Returns the posts after `post`.
    pub const fn after(self, posts: &RangeInclusive<i64>, post: i64) -> RangeInclusive<i64> {
        self.ahead(posts, post.saturating_add(self.sign()))
    }

    /// Returns the posts up to `post`.
    pub const fn until(self, posts: &RangeInclusive<i64>, post: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => post..=*posts.end(),
            Self::Ascending => *posts.start()..=post,
        }
    }

    /// Returns the first post of a range.
    pub const fn start(self, posts: &RangeInclusive<i64>) -> i64 {
        match self {
            Self::Descending => *posts.end(),
            Self::Ascending => *posts.start(),
        }
    }

    /// Returns the post before a range.
    pub const fn before(self, posts: &RangeInclusive<i64>) -> i64 {
        self.start(posts).saturating_sub(self.sign())
    }

    /// Returns the posts from `first` until before `last`.
    pub const fn between(self, first: i64, last: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => last.saturating_add(1)..=first,
            Self::Ascending => first..=last.saturating_sub(1),
        }
    }

    /// Returns the first `count` ids of a range.
    fn first(self, posts: &RangeInclusive<i64>, count: i64) -> RangeInclusive<i64> {
        match self {
            Self::Descending => {
                *posts.start().max(&posts.end().saturating_sub(count - 1))..=*posts.end()
            }
            Self::Ascending => {
                *posts.start()..=*posts.end().min(&posts.start().saturating_add(count - 1))
            }
        }
    }

    /// Returns the posts after the first part of a range.
    const fn behind(
        self,
        posts: &RangeInclusive<i64>,
        part: &RangeInclusive<i64>,
    ) -> RangeInclusive<i64> {
        match self {
            Self::Descending => *posts.start()..=part.start().saturating_sub(1),
            Self::Ascending => part.end().saturating_add(1)..=*posts.end(),
        }
    }
}

static ON_SQLITE_DESCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("DESC"));
static ON_SQLITE_ASCENDING: LazyLock<String> = LazyLock::new(|| on_sqlite("ASC"));

fn on_sqlite(order: &str) -> String {
    format!(
        "SELECT
            post.id AS post, post.thread_id AS thread, thread.forum_id, thread.state = 'visible' AS is_visible,
            post.created_at, CASE WHEN post.number = 1 THEN thread.title_words END AS title_words, post.body_words
        FROM post_text
        CROSS JOIN post ON post.id = post_text.rowid
        CROSS JOIN thread ON thread.id = post.thread_id
        WHERE post_text MATCH :query AND post_text.rowid BETWEEN :first AND :last
        ORDER BY post_text.rowid {order}"
    )
}

static ON_POSTGRES: LazyLock<String> = LazyLock::new(|| on_postgres("NULL"));
static ON_POSTGRES_WITH_TIMES: LazyLock<String> = LazyLock::new(|| {
    on_postgres("(SELECT created_at FROM post AS candidate WHERE candidate.id = matches.post)")
});

fn on_postgres(created_at: &str) -> String {
    format!(
        "SELECT
            post, thread, title AS title_words, body AS body_words, rest, work, {created_at} AS created_at
        FROM matches(:query, :place, :first, :last, :candidates, :way, :rare, :lookups, :phrases, :work)"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;

    use forum_api::model::{SearchFilter, SearchQuery};

    use super::super::filter::FTS5;
    use super::{Connection, MatchCondition, RangeInclusive, Scan, ScanDirection, Work};
    use crate::board::schema;

    /// Creates a board with this number of posts, which all contain "tea". Of each `every` posts, one is in thread 2 of
    /// forum 2, and contains "green tea". The others are in thread 1 of forum 1, and contain "tea green".
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
            INSERT INTO post (id, thread_id, number, state, created_at, written_at, body, body_html, body_words)
            SELECT
                n, iif(n % ?2 = 0, 2, 1), n + 1, 'visible', n, n, '', '', iif(n % ?2 = 0, 'green tea', 'tea green')
            FROM number";
        board.execute(add, [posts, every]).unwrap();
        board
    }

    /// Creates a search in forums. `place` is the condition that restricts FTS5 to them.
    fn filter(query: &str, place: &str, forums: &[i64]) -> MatchCondition {
        let filter = SearchFilter::new(SearchQuery::parse(query).unwrap());
        let forums = BTreeSet::from_iter(forums.iter().copied());
        MatchCondition::new(&FTS5, &filter, None, place.into(), forums)
    }

    fn scan<'a>(
        connection: &'a Connection<'a>,
        filter: &'a MatchCondition,
        direction: ScanDirection,
    ) -> Scan<'a> {
        Scan { connection, filter, direction, work: Work::of_page() }
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
            let filter = filter("tea", " AND (", &[2]);
            let mut scan = scan(&connection, &filter, ScanDirection::Descending);
            let found = scan.matches(filter.posts.clone(), rows).await;
            assert_eq!(found.is_err(), named, "{posts} posts, 1 of {every}");
        }
    }

    #[tokio::test]
    async fn matches_in_some_forums_are_ordered_and_complete() {
        for every in [1, 2, 7, 60, 700] {
            let board = board(1500, every);
            let connection = Connection::sqlite(&board);
            let filter = filter("tea", " AND place : f2", &[2]);
            for (first, last) in [(1, 1500), (300, 1400)] {
                for rows in [1, 21, 150, 2000] {
                    let mut there: Vec<i64> = (first..=last).filter(|id| id % every == 0).collect();
                    for direction in [ScanDirection::Ascending, ScanDirection::Descending] {
                        let mut scan = scan(&connection, &filter, direction);
                        let matches = scan.matches(first..=last, rows).await.unwrap().matches;
                        let found = matches.into_iter().map(|found| (found.post, found.thread));
                        let expected = there.iter().take(rows).map(|id| (*id, 2));
                        assert!(found.eq(expected), "{rows} of 1 in {every}, {direction:?}");
                        there.reverse();
                    }
                }
            }
        }
    }

    /// All posts have the words of the phrase, and few have the phrase.
    #[tokio::test]
    async fn a_scan_ends_when_its_work_is_done_and_goes_on_after_the_last_candidate() {
        let board = board(40_000, 20_000);
        let connection = Connection::sqlite(&board);
        let filter = filter("\"green tea\"", "", &[1, 2]);
        for direction in [ScanDirection::Ascending, ScanDirection::Descending] {
            let mut rest: Option<RangeInclusive<i64>> = Some(filter.posts.clone());
            let mut pages = 0;
            let mut found = Vec::new();
            while let Some(posts) = rest {
                let scanned =
                    scan(&connection, &filter, direction).matches(posts, 21).await.unwrap();
                found.extend(scanned.matches.iter().map(|found| found.post));
                rest = scanned.rest;
                pages += 1;
            }
            found.sort_unstable();
            assert_eq!((pages, found), (3, vec![20_000, 40_000]), "{direction:?}");
        }
    }

    /// The pages of the post that contain the ends of its other texts are empty.
    #[tokio::test]
    async fn a_scan_reads_no_pages_of_the_other_texts_of_a_candidate() {
        let original = board(1, 1);
        let long = "UPDATE post SET body = hex(zeroblob(20000)), body_html = hex(zeroblob(20000))";
        original.execute(long, []).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db");
        original.execute("VACUUM INTO ?1", [path.to_str()]).unwrap();
        for [start, length] in overflow_pages(&path) {
            let mut file = File::options().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(start as u64)).unwrap();
            file.write_all(&vec![0; length as usize]).unwrap();
        }
        let copy = rusqlite::Connection::open(&path).unwrap();
        let connection = Connection::sqlite(&copy);
        let filter = filter("\"green tea\"", "", &[2]);
        let mut scan = scan(&connection, &filter, ScanDirection::Descending);
        let scanned = scan.matches(1..=1, 21).await.unwrap();
        assert_eq!((scanned.matches.len(), scanned.rest), (1, None));
    }

    /// Returns the positions and the lengths of the pages of long rows of posts, in bytes.
    fn overflow_pages(path: &Path) -> Vec<[i64; 2]> {
        let board = rusqlite::Connection::open(path).unwrap();
        let find =
            "SELECT pgoffset, pgsize FROM dbstat WHERE name = 'post' AND pagetype = 'overflow'";
        let mut statement = board.prepare(find).unwrap();
        let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?])).unwrap();
        let pages: Vec<[i64; 2]> = rows.collect::<Result<_, _>>().unwrap();
        assert!(pages.len() > 10, "{pages:?}");
        pages
    }

    #[tokio::test]
    async fn a_scan_reads_a_candidate_however_long_it_is() {
        let board = board(3, 1);
        let long = "UPDATE post SET body_words = body_words || replace(hex(zeroblob(10000000)), '00', ' a')";
        board.execute(long, []).unwrap();
        let connection = Connection::sqlite(&board);
        let filter = filter("tea", "", &[2]);
        let mut scan = scan(&connection, &filter, ScanDirection::Descending);
        let scanned = scan.matches(1..=3, 21).await.unwrap();
        assert_eq!((scanned.matches.len(), scanned.rest), (1, Some(1..=2)));
        let scanned = scan.matches(1..=2, 21).await.unwrap();
        assert_eq!((scanned.matches.len(), scanned.rest), (0, Some(1..=2)));
    }
}
