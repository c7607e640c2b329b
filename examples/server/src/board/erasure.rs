//! Erasure of a member: the account, and what identifies the member in other rows.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Pool};
use forum_api::audit::AuditEntry;
use forum_api::host::{
    BackendError, BackendResult, BoardError, BoardResult, OrInternal, RequestInfo,
};
use forum_api::model::{Timestamp, UserId};
use forum_api::runtime::Clock;
use forum_api::store::sqlite::Database;
use forum_api::store::{ErasedMember, ErasureStatement};
use forum_api::webhook::Event;
use rusqlite::OpenFlags;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::ReferenceBoard;
use super::batches::BatchKind;
use super::db::{BoardDatabase, Change, Connection, Driver, Row, Transaction, Writer, bind};
use super::removal::{ContentOfMember, restored_meanwhile};
use super::{accounts, locks};
use crate::audit;

/// Time for which the cleaning of a SQLite file waits for other programs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of events from which one transaction removes the member.
const MAX_EVENTS: usize = 20;

/// Longer than the time from the beginning of a request until its response is stored.
const LONGEST_REQUEST: Duration = Duration::from_secs(5 * 60);

/// Replaces the name in entries of the audit log that the commands of the server wrote. The target of `member.erased` is
/// an id, which can equal the name of another member.
const AUDIT_LOG: [&str; 3] = [
    "UPDATE forum_api_audit_log SET target = CAST($1 AS TEXT)
    WHERE action LIKE 'member.%' AND action <> 'member.erased' AND lower(target) = lower(CAST($2 AS TEXT))",
    "UPDATE forum_api_audit_log SET details = 'member ' || CAST($1 AS TEXT)
    WHERE action = 'forum.moderator_added' AND lower(details) = 'member ' || lower(CAST($2 AS TEXT))",
    "UPDATE forum_api_audit_log
    SET details = 'by ' || CAST($1 AS TEXT) || substr(details, 4 + length(CAST($2 AS TEXT)))
    WHERE action IN ('post.deleted', 'post.restored')
        AND substr(lower(details) || ';', 1, 4 + length(CAST($2 AS TEXT))) = 'by ' || lower(CAST($2 AS TEXT)) || ';'",
];

/// Forgets the responses about posts and threads that do not exist, to requests that began in a span of time. A repeat of such
/// a request gets 409.
///
/// The subqueries are scalar because Postgres can read a whole table for `NOT EXISTS`.
const RESPONSES_ABOUT_REMOVED: &str = "
    UPDATE forum_api_idempotency_keys
    SET status = NULL, location = NULL, body = NULL, forum_id = NULL, thread_id = NULL, post_id = NULL
    WHERE began_at >= CAST(?1 AS BIGINT) AND began_at < CAST(?2 AS BIGINT)
        AND (
            thread_id IS NOT NULL AND (
                SELECT id FROM thread WHERE thread.id = CAST(forum_api_idempotency_keys.thread_id AS BIGINT)
            ) IS NULL
            OR post_id IS NOT NULL AND (
                SELECT id FROM post WHERE post.id = CAST(forum_api_idempotency_keys.post_id AS BIGINT)
            ) IS NULL
        )";

impl ReferenceBoard {
    /// Removes an account with all personal data. The posts stay without author, unless `with_posts` is set: then the
    /// posts, which must be deleted already, are removed with the threads that the member started.
    ///
    /// Most rows are removed by short transactions before the one that removes the account, so that other writes do not wait.
    /// An erasure that ended between two of them can be repeated. The account must be banned, so that few rows follow.
    ///
    /// # Errors
    /// If the member does not exist, was unbanned meanwhile and is the last administrator who can sign in, or has posts that
    /// are not deleted.
    pub async fn erase(&self, member: i64, with_posts: bool, entry: AuditEntry) -> BoardResult<()> {
        let name = self
            .read_snapshot(move |connection| {
                Box::pin(check_erasable(connection, member, with_posts))
            })
            .await?;
        let mut erased = ErasedMember::new(UserId::from(member), &name);
        if with_posts {
            erased = erased.with_content();
        }
        // The recount of the authors of deleted threads.
        while self.run_batch(BatchKind::Recount).await? {}
        let mut rest = Some(ContentOfMember::new(member, with_posts));
        while let Some(content) = rest {
            rest = self.erase_batch(move |tx| Box::pin(content.remove_batch(tx))).await?;
        }
        let responses_before = self.erase_responses(&erased).await?;
        let events_up_to = self.erase_events(&erased).await?;
        let last = LastStep {
            erased,
            member,
            with_posts,
            responses_before,
            events_up_to,
            clock: self.clock.clone(),
            entry,
        };
        self.database.write_without_timeout(move |tx| Box::pin(last.clone().run(tx))).await
    }

    /// Runs a short transaction, and then lets other commands run for as long.
    async fn erase_batch<T: Send + 'static>(
        &self,
        change: impl Change<T> + Clone + 'static,
    ) -> BoardResult<T> {
        let began = Instant::now();
        let done = self.database.write(Writer::Operator, change).await?;
        sleep(began.elapsed()).await;
        Ok(done)
    }

    /// Removes the responses to the member, the responses about removed content, and the member from the responses to others.
    /// Considers only requests that began before the returned time.
    async fn erase_responses(&self, erased: &ErasedMember) -> BoardResult<Timestamp> {
        for batch in erased.batches() {
            loop {
                let batch = batch.clone();
                if self.erase_batch(move |tx| Box::pin(execute(tx, batch))).await? == 0 {
                    break;
                }
            }
        }
        let own_now = self.clock.now();
        let now = self
            .read_short(move |connection| Box::pin(now_of_responses(connection, own_now)))
            .await?;
        let end = now.saturating_sub(LONGEST_REQUEST);
        let mut from = Timestamp::from_millis(i64::MIN);
        while from < end {
            let latest = self
                .read(move |connection| Box::pin(next_responses(connection, from)))
                .await?
                .unwrap_or(end);
            let until = latest.saturating_add(Duration::from_millis(1)).min(end);
            let statement = erased.other_responses(from..until);
            self.erase_batch(move |tx| {
                let statement = statement.clone();
                Box::pin(async move {
                    execute(tx, statement).await?;
                    forget_responses_about_removed(tx, from..until).await
                })
            })
            .await?;
            from = until;
        }
        Ok(end)
    }

    /// Removes the member from the events up to a number. Returns this number.
    async fn erase_events(&self, erased: &ErasedMember) -> BoardResult<i64> {
        let last = self.database.write_without_timeout(|tx| Box::pin(last_event(tx))).await?;
        let mut after = 0;
        while after < last {
            let pattern = erased.event_pattern();
            let events = self
                .read(move |connection| Box::pin(find_events(connection, pattern, after)))
                .await?;
            let Some(next) = events.last() else {
                break;
            };
            after = next.number;
            let containing: Vec<_> = events.iter().filter(|event| event.body.is_some()).collect();
            for events in containing.chunks(MAX_EVENTS) {
                let statements: Vec<_> =
                    events.iter().flat_map(|event| event.statements(erased)).collect();
                self.erase_batch(move |tx| Box::pin(execute_all(tx, statements))).await?;
            }
        }
        Ok(last)
    }

    /// Overwrites the space of the rows that [`erase`](Self::erase) removed, and the search index of former texts.
    /// Returns a remark if this is left to Postgres. An error begins with `done`, a sentence about the erasure.
    ///
    /// # Errors
    /// If a SQLite file cannot be rewritten.
    pub async fn clear_free_space(&self, done: &str) -> BoardResult<String> {
        match &self.database {
            BoardDatabase::Sqlite(database) => {
                rewrite_file(database).await.map_err(|error| {
                    BoardError::internal(format!(
                        "{done} The database file can still contain removed texts: {error}; after removing the cause, run with SQLite 3.43 or later: INSERT INTO post_text (post_text) VALUES ('optimize'); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"
                    ))
                })?;
                Ok(String::new())
            }
            BoardDatabase::Postgres(database) => Ok(match vacuum(&database.pool).await {
                Ok(()) => String::new(),
                Err(error) => format!(
                    " VACUUM failed: {error}. Postgres removes the former versions of the rows with its next vacuum."
                ),
            }),
        }
    }
}

/// Tables with data of members.
const TABLES: [&str; 17] = [
    "member",
    "thread",
    "thread_author",
    "post",
    "post_text",
    "poll",
    "poll_option",
    "rating",
    "message",
    "message_copy",
    "forum_api_tokens",
    "forum_api_idempotency_keys",
    "forum_api_events",
    "forum_api_deliveries",
    "forum_api_attempts",
    "forum_api_endpoints",
    "forum_api_audit_log",
];

/// Sets the limits of the session of `VACUUM`: it can take hours, and waits at most 10 s for the lock of another process.
/// Behind a pooler, which sets the application name with a statement, the session keeps its limits, because other clients use
/// it later.
const SET_VACUUM_LIMITS: &str = "
    SELECT set_config('statement_timeout', '0', FALSE), set_config('lock_timeout', '10s', FALSE)
    FROM pg_settings WHERE name = 'application_name' AND source <> 'session'";

/// Removes the former versions of rows from the tables, and their values from the statistics.
async fn vacuum(pool: &Pool) -> BackendResult<()> {
    // The connection does not return to the pool, whose statements have a time limit.
    let client = Object::take(pool.get().await?);
    client.batch_execute(SET_VACUUM_LIMITS).await?;
    for table in TABLES {
        client.batch_execute(&format!("VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}")).await?;
    }
    Ok(())
}

/// Returns the name of a member who can be erased.
async fn check_erasable(
    connection: &Connection<'_>,
    member: i64,
    with_posts: bool,
) -> BoardResult<String> {
    let find_name = "SELECT username FROM member WHERE id = ?1";
    let name: String = connection
        .first(find_name, bind![member], |row| row.value("username"))
        .await?
        .ok_or_else(|| BoardError::not_found(format!("unknown member \"{member}\"")))?;
    accounts::check_not_last_administrator(connection, member, &name).await?;
    let find_post = "SELECT 1 FROM post WHERE author_id = ?1 AND state <> 'deleted' LIMIT 1";
    if with_posts && connection.any(find_post, bind![member]).await? {
        return Err(restored_meanwhile());
    }
    Ok(name)
}

/// An event, with its body if it contains the member.
struct StoredEvent {
    number: i64,
    id: String,
    body: Option<String>,
}

impl StoredEvent {
    fn statements(&self, erased: &ErasedMember) -> Vec<ErasureStatement> {
        let body = self.body.as_deref();
        body.map(|body| erased.of_event(&self.id, body)).unwrap_or_default()
    }
}

async fn find_events(
    connection: &Connection<'_>,
    pattern: String,
    after: i64,
) -> BoardResult<Vec<StoredEvent>> {
    static FIND: LazyLock<String> =
        LazyLock::new(|| ErasedMember::FIND_EVENTS_SQL.replace('$', "?"));
    let read = |row: &Row<'_>| {
        Ok(StoredEvent {
            number: row.value("number")?,
            id: row.value("id")?,
            body: row.value("body")?,
        })
    };
    connection.all(&FIND, bind![pattern, after], read).await
}

/// Returns the number of the latest event. All transactions that have written an earlier one have ended.
async fn last_event(tx: &Transaction<'_>) -> BoardResult<i64> {
    locks::board(tx).await?;
    locks::limit_pauses(tx).await?;
    let last = tx.first(ErasedMember::LAST_EVENT_SQL, &[], |row| row.value("number")).await?;
    Ok(last.flatten().unwrap_or_default())
}

/// Returns the current time by the clock that dates stored responses: the clock of Postgres, or on SQLite that of the
/// machine.
async fn now_of_responses(
    connection: &Connection<'_>,
    own_now: Timestamp,
) -> BoardResult<Timestamp> {
    match connection.driver {
        Driver::Sqlite(_) => Ok(own_now),
        Driver::Postgres(_) => {
            let find = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now";
            connection.one(find, &[], |row| row.value("now")).await
        }
    }
}

async fn next_responses(
    connection: &Connection<'_>,
    from: Timestamp,
) -> BoardResult<Option<Timestamp>> {
    static NEXT: LazyLock<String> =
        LazyLock::new(|| ErasedMember::NEXT_RESPONSES_SQL.replace('$', "?"));
    let latest: Option<Option<i64>> =
        connection.first(&NEXT, bind![from.as_millis()], |row| row.value("began_at")).await?;
    Ok(latest.flatten().map(Timestamp::from_millis))
}

async fn forget_responses_about_removed(
    tx: &Transaction<'_>,
    began_at: Range<Timestamp>,
) -> BoardResult<()> {
    let parameters = bind![began_at.start.as_millis(), began_at.end.as_millis()];
    tx.execute(RESPONSES_ABOUT_REMOVED, parameters).await.map(drop)
}

async fn execute(tx: &Transaction<'_>, statement: ErasureStatement) -> BoardResult<u64> {
    tx.execute_texts(statement.sql, &statement.parameters).await
}

async fn execute_all(tx: &Transaction<'_>, statements: Vec<ErasureStatement>) -> BoardResult<()> {
    for statement in statements {
        execute(tx, statement).await?;
    }
    Ok(())
}

/// The transaction that removes the account, and what was written since the batches.
#[derive(Clone)]
struct LastStep {
    erased: ErasedMember,
    member: i64,
    with_posts: bool,
    /// Requests that began earlier have no responses with the member.
    responses_before: Timestamp,
    /// Events up to this number do not contain the member.
    events_up_to: i64,
    clock: Arc<dyn Clock>,
    entry: AuditEntry,
}

impl LastStep {
    async fn run(self, tx: &Transaction<'_>) -> BoardResult<()> {
        let Self { erased, member, with_posts, responses_before, mut events_up_to, .. } = self;
        locks::board(tx).await?;
        locks::limit_pauses(tx).await?;
        let now = self.clock.now();
        let name = check_erasable(tx, member, with_posts).await?;
        execute_all(tx, erased.statements_since(responses_before)).await?;
        loop {
            let events = find_events(tx, erased.event_pattern(), events_up_to).await?;
            let Some(last) = events.last() else {
                break;
            };
            events_up_to = last.number;
            let statements = events.iter().flat_map(|event| event.statements(&erased));
            execute_all(tx, statements.collect()).await?;
        }
        let mut rest = Some(ContentOfMember::new(member, with_posts));
        while let Some(content) = rest {
            rest = content.remove_batch(tx).await?;
        }
        let latest = responses_before..Timestamp::from_millis(i64::MAX);
        forget_responses_about_removed(tx, latest).await?;
        tx.execute("DELETE FROM member WHERE id = ?1", bind![member]).await?;
        for statement in AUDIT_LOG {
            tx.execute_texts(statement, &[audit::marked_id(member), name.clone()]).await?;
        }
        let meta = RequestInfo::background(now).event(now)?;
        let event = Event::member_erased(meta, &UserId::from(member));
        tx.execute_texts(Event::INSERT_SQL, &event.insert_parameters()).await?;
        tx.execute_texts(AuditEntry::INSERT_SQL, &self.entry.insert_parameters(1)).await?;
        Ok(())
    }
}

/// Rewrites the file of a database, if it has one.
async fn rewrite_file(database: &Database) -> BackendResult<()> {
    let path = database
        .read(|connection| -> BackendResult<Option<PathBuf>> {
            Ok(connection.path().map(PathBuf::from))
        })
        .await?;
    match path.filter(|path| path.is_absolute()) {
        Some(path) => spawn_blocking(move || rewrite(&path)).await.or_internal()?,
        None => Ok(()),
    }
}

/// Rewrites the search index and the file without the content of free pages, and empties the log.
fn rewrite(path: &Path) -> BackendResult<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = rusqlite::Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("INSERT INTO post_text (post_text) VALUES ('optimize'); VACUUM")?;
    // A checkpoint does not wait for another one, such as that of the server after `VACUUM`.
    let began = Instant::now();
    while connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))? {
        if began.elapsed() > BUSY_TIMEOUT {
            let reason = "another program, such as litestream, reads the database; stop it";
            return Err(BackendError::new(reason));
        }
        thread::sleep(CHECKPOINT_INTERVAL);
    }
    Ok(())
}
