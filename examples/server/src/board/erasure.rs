//! Erasure of a member: the account, and what identifies the member in other rows.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use forum_api::audit::AuditEntry;
use forum_api::host::{
    BackendError, BackendResult, BoardError, BoardResult, OrInternal, RequestInfo,
};
use forum_api::model::UserId;
use forum_api::store::ErasedMember;
use forum_api::webhook::Event;
use rusqlite::OpenFlags;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::ReferenceBoard;
use super::db::{BoardDatabase, Connection, Transaction, Writer, bind};
use super::removal::ContentOfMember;
use super::{accounts, locks};

/// Time for which the cleaning of a SQLite file waits for other programs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(100);

/// Removes the deleted posts of a member, and the threads that the member started. A rating of a removed post no longer
/// counts as one by its rater, because it would become a rating without a post.
const POSTS: [&str; 6] = [
    // The threads are hidden, so their posts are not to count on profiles.
    "UPDATE member SET post_count = post_count - part.posts
    FROM (
        SELECT thread_author.author_id, CAST(sum(counted) AS BIGINT) AS posts
        FROM thread JOIN thread_author ON thread_author.thread_id = thread.id
        WHERE thread.author_id = ?1 AND counted <> 0 GROUP BY thread_author.author_id
    ) AS part
    WHERE member.id = part.author_id",
    "UPDATE rating SET rater_id = NULL
    WHERE post_id IN (
        SELECT post.id FROM post JOIN thread ON thread.id = post.thread_id WHERE thread.author_id = ?1
    )",
    "UPDATE forum_api_idempotency_keys
    SET status = NULL, location = NULL, body = NULL, forum_id = NULL, thread_id = NULL, post_id = NULL
    WHERE thread_id IN (SELECT CAST(id AS TEXT) FROM thread WHERE author_id = ?1)
        OR post_id IN (SELECT CAST(id AS TEXT) FROM post WHERE author_id = ?1)",
    "DELETE FROM subscription
    WHERE target = 'thread' AND target_id IN (SELECT id FROM thread WHERE author_id = ?1)",
    "DELETE FROM thread WHERE author_id = ?1",
    "DELETE FROM post WHERE author_id = ?1",
];

/// Removes the account. Foreign keys remove the rows of the account, and the author of other rows.
const ACCOUNT: [&str; 4] = [
    "UPDATE thread SET last_author_id = NULL
    WHERE last_author_id = ?1 AND id IN (
        SELECT thread_id FROM thread_author WHERE author_id = ?1
        UNION ALL
        SELECT id FROM thread WHERE author_id = ?1
    )",
    "UPDATE post SET edit_reason = NULL WHERE edited_by = ?1 AND edit_reason IS NOT NULL",
    "DELETE FROM message WHERE id IN (
        SELECT message_id FROM message_copy WHERE owner_id = ?1
        UNION ALL
        SELECT id FROM message WHERE sender_id = ?1
    ) AND NOT EXISTS (
        SELECT 1 FROM message_copy WHERE message_id = message.id AND owner_id <> ?1
    )",
    "DELETE FROM member WHERE id = ?1",
];

/// Replaces the name in entries of the audit log that the commands of the server wrote.
const AUDIT_LOG: [&str; 3] = [
    "UPDATE forum_api_audit_log SET target = CAST($1 AS TEXT)
    WHERE action LIKE 'member.%' AND lower(target) = lower(CAST($2 AS TEXT))",
    "UPDATE forum_api_audit_log SET details = 'member ' || CAST($1 AS TEXT)
    WHERE action = 'forum.moderator_added' AND lower(details) = 'member ' || lower(CAST($2 AS TEXT))",
    "UPDATE forum_api_audit_log
    SET details = 'by ' || CAST($1 AS TEXT) || substr(details, 4 + length(CAST($2 AS TEXT)))
    WHERE action IN ('post.deleted', 'post.restored')
        AND substr(lower(details) || ';', 1, 4 + length(CAST($2 AS TEXT))) = 'by ' || lower(CAST($2 AS TEXT)) || ';'",
];

impl ReferenceBoard {
    /// Removes an account with all personal data. The posts stay without author, unless `with_posts` is set: then the
    /// posts, which must be deleted already, are removed with the threads that the member started.
    ///
    /// # Errors
    /// If the member does not exist, is the last administrator who can sign in, or has posts that are not deleted.
    pub async fn erase(&self, member: i64, with_posts: bool, entry: AuditEntry) -> BoardResult<()> {
        self.read_snapshot(move |connection| {
            Box::pin(async move { check_erasable(connection, member, with_posts).await.map(drop) })
        })
        .await?;
        let mut rest = Some(ContentOfMember::new(member, with_posts));
        while let Some(content) = rest {
            let began = Instant::now();
            rest = self
                .database
                .write(Writer::Operator, move |tx| Box::pin(content.remove_batch(tx)))
                .await?;
            // Other commands run meanwhile.
            sleep(began.elapsed()).await;
        }
        let now = self.clock.now();
        let meta = RequestInfo::background(now).event(now)?;
        let event = Event::member_erased(meta, &UserId::from(member));
        self.database
            .write_without_timeout(move |tx| Box::pin(erase(tx, member, with_posts, event, entry)))
            .await
    }

    /// Overwrites the space of the rows that [`erase`](Self::erase) removed, and the search index of former texts.
    /// Returns a remark if this is left to Postgres. An error begins with `done`, a sentence about the erasure.
    ///
    /// # Errors
    /// If a SQLite file cannot be rewritten.
    pub async fn clear_free_space(&self, done: &str) -> BoardResult<&'static str> {
        match &self.database {
            BoardDatabase::Sqlite(database) => {
                let path = database
                    .read(|connection| -> BackendResult<Option<PathBuf>> {
                        Ok(connection.path().map(PathBuf::from))
                    })
                    .await?;
                let Some(path) = path.filter(|path| path.is_absolute()) else {
                    return Ok("");
                };
                spawn_blocking(move || rewrite(&path)).await.or_internal()?.map_err(|error| {
                    BoardError::internal(format!(
                        "{done} The database file can still contain removed texts: {error}; then run VACUUM and PRAGMA wal_checkpoint(TRUNCATE) with the program sqlite3"
                    ))
                })?;
                Ok("")
            }
            BoardDatabase::Postgres(database) => {
                let client = database.pool.get().await.or_internal()?;
                Ok(match client.batch_execute(VACUUM).await {
                    Ok(()) => "",
                    Err(_) => {
                        " Postgres removes the former versions of the rows with its next vacuum."
                    }
                })
            }
        }
    }
}

/// Removes the former versions of rows from the tables, and their values from the statistics.
const VACUUM: &str = "
    VACUUM (ANALYZE, INDEX_CLEANUP ON) member, thread, thread_author, post, post_text, poll, poll_option, rating, message,
        message_copy, forum_api_tokens, forum_api_idempotency_keys, forum_api_events, forum_api_deliveries,
        forum_api_attempts, forum_api_endpoints, forum_api_audit_log";

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
        let reason = "a post of the member was restored meanwhile; run the command again";
        return Err(BoardError::conflict(reason));
    }
    Ok(name)
}

async fn erase(
    tx: &Transaction<'_>,
    member: i64,
    with_posts: bool,
    event: Event,
    entry: AuditEntry,
) -> BoardResult<()> {
    locks::board(tx).await?;
    let name = check_erasable(tx, member, with_posts).await?;
    let mut erased = ErasedMember::new(UserId::from(member), &name);
    if with_posts {
        erased = erased.with_content();
    }
    for statement in erased.statements() {
        tx.execute_texts(statement.sql, &statement.parameters).await?;
    }
    static FIND_EVENTS: LazyLock<String> =
        LazyLock::new(|| ErasedMember::FIND_EVENTS_SQL.replace('$', "?"));
    let events: Vec<(String, String)> = tx
        .all(&FIND_EVENTS, bind![erased.event_pattern()], |row| {
            Ok((row.value("id")?, row.value("body")?))
        })
        .await?;
    for (event, body) in events {
        for statement in erased.of_event(&event, &body) {
            tx.execute_texts(statement.sql, &statement.parameters).await?;
        }
    }
    let posts = if with_posts { &POSTS[..] } else { &[] };
    for statement in posts.iter().chain(&ACCOUNT) {
        tx.execute(statement, bind![member]).await?;
    }
    for statement in AUDIT_LOG {
        tx.execute_texts(statement, &[member.to_string(), name.clone()]).await?;
    }
    tx.execute_texts(Event::INSERT_SQL, &event.insert_parameters()).await?;
    tx.execute_texts(AuditEntry::INSERT_SQL, &entry.insert_parameters(1)).await?;
    Ok(())
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
