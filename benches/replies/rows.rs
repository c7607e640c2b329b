//! Row counts of the database.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Result};

/// Name and value of a row count or of a sum of counters.
pub type Rows = BTreeMap<String, i64>;

/// Number of rows in each table, except the search index's internal tables, and the sums of the counters of threads,
/// forums and members.
pub fn rows(path: &Path) -> Rows {
    let connection = Connection::open(path).unwrap();
    let tables = "
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND (name NOT LIKE 'post_text%' OR name = 'post_text_docsize')";
    let mut tables = connection.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let mut rows: Rows = tables
        .map(|table: Result<String>| {
            let table = table.unwrap();
            let count = format!("SELECT count(*) FROM {table}");
            let count = number(&connection, &count);
            (table, count)
        })
        .collect();
    for (what, sum) in [
        ("replies of threads", "SELECT sum(reply_count) FROM thread"),
        ("last numbers", "SELECT sum(last_number) FROM thread"),
        (
            "last posts",
            "SELECT sum(number) FROM post JOIN thread ON last_post_id = post.id",
        ),
        ("posts of forums", "SELECT sum(post_count) FROM forum"),
        ("posts of members", "SELECT sum(post_count) FROM member"),
    ] {
        rows.insert(what.into(), number(&connection, sum));
    }
    rows
}

fn number(connection: &Connection, query: &str) -> i64 {
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Returns the difference for each reply.
pub fn for_each(before: &Rows, after: &Rows, replies: i64) -> BTreeMap<String, f64> {
    let more = after.iter().filter_map(|(what, after)| {
        let more = after - before[what];
        (more != 0).then(|| (what.clone(), more as f64 / replies as f64))
    });
    more.collect()
}
