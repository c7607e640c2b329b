//! Resource use of the server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use forum_api::store::sqlite::rusqlite::{Connection, OpenFlags};

use crate::client;
use crate::program::Server;

/// Resource use of the server at one time.
#[derive(Debug)]
pub struct Sample {
    /// Time since the start.
    pub at: Duration,
    /// Anonymous memory in bytes, without the mapped database file.
    pub memory: u64,
    /// Number of live tasks.
    pub tasks: u64,
    pub threads: u64,
    /// Number of open files and sockets.
    pub descriptors: u64,
    /// Size of SQLite's write-ahead log in bytes.
    pub log: u64,
    /// Total number of successful attempts.
    pub delivered_ever: i64,
    /// Number of deliveries in the database.
    pub delivered_kept: i64,
}

impl Sample {
    pub fn of(server: &Server, at: Duration) -> Self {
        let process = server.proc_directory();
        let status = fs::read_to_string(process.join("status")).unwrap();
        let metrics = client::get(&server.url("/metrics")).body;
        let database = server.directory.path().join("forum.db");
        Self {
            at,
            memory: number_after(&status, "RssAnon:") << 10,
            tasks: number_after(&metrics, "\nforum_server_tasks"),
            threads: number_after(&status, "Threads:"),
            descriptors: fs::read_dir(process.join("fd")).unwrap().count() as u64,
            log: fs::metadata(database.with_extension("db-wal")).map_or(0, |file| file.len()),
            delivered_ever: delivered(&metrics),
            delivered_kept: rows(&database),
        }
    }
}

fn number_after(text: &str, name: &str) -> u64 {
    let (_, rest) = text.split_once(name).unwrap();
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

/// Sums the values of all topics.
fn delivered(metrics: &str) -> i64 {
    let lines = metrics.lines().filter(|line| {
        line.starts_with("forum_api_deliveries_total{") && line.contains("\"delivered\"")
    });
    let counts = lines.map(|line| number_after(line, "}"));
    counts.sum::<u64>().try_into().unwrap()
}

fn rows(database: &Path) -> i64 {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let count = "SELECT count(*) FROM forum_api_deliveries";
    connection
        .unwrap()
        .query_row(count, [], |row| row.get(0))
        .unwrap()
}
