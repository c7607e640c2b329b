//! Row counts of the database.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result};

use crate::storage::Storage;

/// Name and value of a row count or of a sum of counters.
pub type Rows = BTreeMap<String, i64>;

/// Number of rows in each table, except the search index's internal tables, and the sums of the counters of threads,
/// forums and members.
pub async fn rows(storage: &Storage) -> Rows {
    let mut rows = Rows::new();
    for (what, query) in match &storage.file {
        Some(file) => queries(sqlite_tables(&Connection::open(file).unwrap())),
        None => queries(postgres_tables(storage).await),
    } {
        let count = match &storage.file {
            Some(file) => number(&Connection::open(file).unwrap(), &query),
            None => postgres_number(storage, &query).await,
        };
        rows.insert(what, count);
    }
    rows
}

fn sqlite_tables(connection: &Connection) -> Vec<String> {
    let tables = "
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND (name NOT LIKE 'post_text%' OR name = 'post_text_docsize')";
    let mut tables = connection.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    tables.map(Result::unwrap).collect()
}

async fn postgres_tables(storage: &Storage) -> Vec<String> {
    let tables = "
        SELECT CAST(table_name AS TEXT) FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
    let client = storage.pool().get().await.unwrap();
    let tables = client.query(tables, &[]).await.unwrap();
    tables.iter().map(|row| row.get(0)).collect()
}

async fn postgres_number(storage: &Storage, query: &str) -> i64 {
    let client = storage.pool().get().await.unwrap();
    let query = format!("SELECT CAST(({query}) AS BIGINT)");
    client.query_one(&query, &[]).await.unwrap().get(0)
}

/// The names and the queries of the counts of these tables, and of the sums.
fn queries(tables: Vec<String>) -> Vec<(String, String)> {
    let counts = tables.into_iter().map(|table| {
        let count = format!("SELECT count(*) FROM {table}");
        (table, count)
    });
    let sums = [
        ("replies of threads", "SELECT sum(reply_count) FROM thread"),
        ("last numbers", "SELECT sum(last_number) FROM thread"),
        (
            "last posts",
            "SELECT sum(number) FROM post JOIN thread ON last_post_id = post.id",
        ),
        ("posts of forums", "SELECT sum(post_count) FROM forum"),
        ("posts of members", "SELECT sum(post_count) FROM member"),
    ];
    let sums = sums.map(|(what, sum)| (what.into(), sum.into()));
    counts.chain(sums).collect()
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
