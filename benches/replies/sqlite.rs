//! Bare writer on SQLite: one connection on a thread of its own, which commits all queued replies together.

use std::iter;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use forum_test_support::program::ServerDirectory;
use rusqlite::{Connection, params};

use crate::bare::{AUTHOR, EVENT, FORUM, MEMBER, POST, Sample, THREAD, WRITERS, Write};

/// The pragmas that the library sets on its own connections.
const PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA cache_size = -32768;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
";

/// Writes copies of the sample; returns replies per second.
pub async fn per_second(directory: &ServerDirectory, sample: Sample) -> f64 {
    let connection = Connection::open(directory.path().join("forum.db")).unwrap();
    connection.execute_batch(PRAGMAS).unwrap();
    let (queue, waiting) = channel();
    let contents = sample.clone();
    let writer = thread::spawn(move || work(&connection, &waiting, contents));
    let per_second = sample.per_second(move |write| queue.send(write).unwrap()).await;
    writer.join().unwrap();
    per_second
}

fn work(connection: &Connection, queue: &Receiver<Write>, mut sample: Sample) {
    while let Ok(first) = queue.recv() {
        let group = iter::once(first).chain(queue.try_iter().take(WRITERS - 1));
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let committed = group.map(|write| {
            insert(&mut sample, connection, &write).unwrap();
            write.committed
        });
        let callers: Vec<_> = committed.collect();
        connection.execute_batch("COMMIT").unwrap();
        for caller in callers {
            caller.send(()).unwrap();
        }
    }
}

fn insert(sample: &mut Sample, connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    let thread = &mut sample.threads[write.thread];
    thread.last_number += 1;
    sample.at += 1;
    let number = thread.last_number;
    let at = sample.at;
    let contents =
        params![thread.id, number, write.member, at, sample.body, sample.html, sample.words];
    let post: i64 = connection.prepare_cached(POST)?.query_row(contents, |row| row.get(0))?;
    let event = format!("evt_{post:022}");
    let forum = thread.forum.to_string();
    for (sql, values) in [
        (THREAD, params![number, post, write.member, at, thread.id]),
        (FORUM, params![at, thread.forum]),
        (MEMBER, params![write.member]),
        (AUTHOR, params![thread.id, write.member]),
        (EVENT, params![event, at, forum, sample.event]),
    ] {
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}
