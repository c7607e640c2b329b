//! Row counts of the database.

use forum_benches::measurements::by_backend;
use forum_test_support::program::ServerDirectory;

const SQLITE_TABLES: &str = "
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name NOT IN ('thread_author', 'forum_count')
        AND (name NOT LIKE 'post_text%' OR name = 'post_text_docsize')";

const POSTGRES_TABLES: &str = "
    SELECT table_name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN ('thread_author', 'forum_count')";

/// Sums of the counters of threads, forums, members, and authors in threads.
const SUMS: [&str; 7] = [
    "SELECT sum(reply_count) FROM thread",
    "SELECT sum(last_number) FROM thread",
    "SELECT sum(number) FROM post JOIN thread ON last_post_id = post.id",
    "SELECT sum(post_count) FROM forum_count",
    "SELECT sum(post_count) FROM member",
    "SELECT coalesce(sum(post_count), 0) FROM thread_author",
    "SELECT coalesce(sum(counted), 0) FROM thread_author",
];

/// Number of rows in each table, and the sums, by their queries. Excludes the search index's internal tables, and the tables
/// whose number of rows depends on which members and transactions write at the same time.
pub struct Rows(Vec<(String, f64)>);

impl Rows {
    pub fn count(directory: &ServerDirectory) -> Self {
        let tables = directory.query(by_backend(SQLITE_TABLES, POSTGRES_TABLES));
        let counts = tables.iter().map(|table| format!("SELECT count(*) FROM {table}"));
        let queries = counts.chain(SUMS.map(Into::into));
        let result = |query: String| {
            let text = format!("SELECT CAST(({query}) AS TEXT)");
            let number = directory.query(&text)[0].parse().unwrap();
            (query, number)
        };
        Self(queries.map(result).collect())
    }

    /// Returns the differences that are not zero, for each post.
    pub fn per_reply(&self, before: &Self) -> Vec<(String, f64)> {
        let pairs = self.0.iter().zip(&before.0);
        let more = pairs.map(|((query, after), (_, before))| (query, after - before));
        let counts_posts = |(query, _): &(&String, f64)| query.ends_with("FROM post");
        let (_, posts) = more.clone().find(counts_posts).unwrap();
        more.filter(|(_, more)| *more != 0.0)
            .map(|(query, more)| (query.clone(), more / posts))
            .collect()
    }
}
