//! Row locks of commands on Postgres, in the order that `db/postgres.rs` describes. On SQLite a transaction excludes all
//! other writers, and these functions lock nothing.
//!
//! A statement that locks rows reads only the ids of these rows. If it has waited for a lock, it would return other columns
//! as they were when the statement began.

use std::sync::LazyLock;

use forum_api::host::BoardResult;
use forum_api::model::{NewMessage, UserRef};

use super::db::{Bound, Driver, Transaction, bind};
use super::messages::recipients;
use super::settings::RECIPIENTS_MAX;

/// The rows that a command locks besides the row of its own member.
#[derive(Clone, Debug)]
pub enum LockTarget {
    Nothing,
    Thread(i64),
    Post(PostTarget),
    /// The thread of a poll.
    Poll(i64),
    Member(UserRef),
    Recipients(NewMessage),
    /// The sender of the message of this copy.
    MessageCopy(i64),
}

/// Returns a statement that locks `:member` and the members whose ids `others` selects.
fn lock_members(others: &str) -> String {
    format!("SELECT id FROM member WHERE {}", members_in_order(others))
}

/// Returns the condition of `:member` and the members whose ids `others` selects, with the order and the lock.
fn members_in_order(others: &str) -> String {
    format!(
        "id = ANY (ARRAY(SELECT CAST(:member AS BIGINT) UNION ALL {others}))
        ORDER BY id FOR NO KEY UPDATE"
    )
}

/// Returns a statement that locks a thread, and then members. Postgres locks the thread before it reads the members,
/// because it evaluates a subquery without references to other rows first.
fn lock_thread_and_members(thread: &str, others: &str) -> String {
    format!(
        "WITH locked AS MATERIALIZED (SELECT id FROM thread WHERE id = {thread} FOR NO KEY UPDATE)
        SELECT id FROM member WHERE (SELECT count(*) FROM locked) >= 0 AND {}",
        members_in_order(others)
    )
}

static THREAD: LazyLock<String> = LazyLock::new(|| lock_thread_and_members(":id", "SELECT NULL"));

static POST: LazyLock<String> = LazyLock::new(|| {
    lock_thread_and_members(
        "(SELECT thread_id FROM post WHERE id = :id)",
        "SELECT author_id FROM post WHERE id = :id",
    )
});

static POLL: LazyLock<String> = LazyLock::new(|| {
    lock_thread_and_members("(SELECT thread_id FROM poll WHERE id = :id)", "SELECT NULL")
});

static SENDER: LazyLock<String> = LazyLock::new(|| {
    lock_members(
        "SELECT sender_id FROM message WHERE id = (SELECT message_id FROM message_copy WHERE id = :id)",
    )
});

static NAMED: LazyLock<String> =
    LazyLock::new(|| lock_members("SELECT id FROM member WHERE lower(username) = :name"));

/// A message with more names than the statement reads is refused.
static RECIPIENTS: LazyLock<String> = LazyLock::new(|| {
    let others = format!(
        "SELECT {} FROM json_each(:named) AS named
        WHERE key <= 2 * coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = :key), :default)",
        recipients::NAMED_MEMBER_ID,
    );
    lock_members(&others)
});

/// A thread, and the author of a post in it.
#[derive(Clone, Copy, Debug)]
pub struct PostTarget {
    /// The thread of the path, which may not be that of the post; `None` if it is not known.
    pub thread: Option<i64>,
    pub post: i64,
}

impl LockTarget {
    /// Returns the thread that the target locks, if it is known before.
    pub const fn thread(&self) -> Option<i64> {
        match self {
            Self::Thread(thread) => Some(*thread),
            Self::Post(target) => target.thread,
            _ => None,
        }
    }

    /// Locks the thread of the target, and then the members: those of the target, and `member`.
    pub async fn lock(&self, tx: &Transaction<'_>, member: Option<i64>) -> BoardResult<()> {
        let (sql, id): (&LazyLock<String>, i64) = match self {
            Self::Nothing => return members(tx, &Vec::from_iter(member)).await,
            Self::Thread(id) => (&THREAD, *id),
            Self::Post(target) => (&POST, target.post),
            Self::Poll(id) => (&POLL, *id),
            Self::MessageCopy(id) => (&SENDER, *id),
            Self::Member(UserRef::Id(id)) => {
                let ids = member.into_iter().chain(id.to_i64().ok());
                return members(tx, &Vec::from_iter(ids)).await;
            }
            Self::Member(UserRef::Name(name)) => {
                let name = name.to_ascii_lowercase();
                let parameters = bind! { ":member": member, ":name": name };
                return lock(tx, &NAMED, parameters).await;
            }
            Self::Recipients(message) => {
                let parameters = bind! {
                    ":member": member, ":named": recipients::distinct(&message.to),
                    ":key": RECIPIENTS_MAX.key, ":default": RECIPIENTS_MAX.default,
                };
                return lock(tx, &RECIPIENTS, parameters).await;
            }
        };
        lock(tx, sql, bind! { ":member": member, ":id": id }).await
    }
}

/// Locks the rows that a statement selects. Does nothing on SQLite.
async fn lock(
    tx: &Transaction<'_>,
    sql: &'static str,
    parameters: &[Bound<'_>],
) -> BoardResult<()> {
    match tx.driver {
        Driver::Sqlite(_) => Ok(()),
        Driver::Postgres(_) => tx.any(sql, parameters).await.map(drop),
    }
}

/// Locks the members whose ids `:members` contains, an [`array`](fn@array).
pub const MEMBERS: &str = "
    SELECT id FROM member WHERE id = ANY (CAST(CAST(:members AS TEXT) AS BIGINT [])) ORDER BY id FOR NO KEY UPDATE";

pub async fn members(tx: &Transaction<'_>, ids: &[i64]) -> BoardResult<()> {
    if ids.is_empty() {
        return Ok(());
    }
    lock(tx, MEMBERS, bind! { ":members": array(ids) }).await
}

/// Formats ids as an array of Postgres.
pub fn array(ids: &[i64]) -> String {
    let texts: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("{{{}}}", texts.join(","))
}

/// Locks several threads.
pub async fn threads(tx: &Transaction<'_>, threads: &[i64]) -> BoardResult<()> {
    let sql = "
        SELECT id FROM thread WHERE id = ANY (CAST(CAST(?1 AS TEXT) AS BIGINT [])) ORDER BY id FOR NO KEY UPDATE";
    lock(tx, sql, bind![array(threads)]).await
}

/// Locks the threads of several posts, then the authors of these posts.
pub async fn posts(tx: &Transaction<'_>, posts: &[i64]) -> BoardResult<()> {
    const STATEMENTS: [&str; 2] = [
        "SELECT id FROM thread WHERE id IN (
            SELECT thread_id FROM post WHERE id = ANY (CAST(CAST(?1 AS TEXT) AS BIGINT []))
        ) ORDER BY id FOR NO KEY UPDATE",
        "SELECT id FROM member WHERE id IN (
            SELECT author_id FROM post WHERE id = ANY (CAST(CAST(?1 AS TEXT) AS BIGINT []))
        ) ORDER BY id FOR NO KEY UPDATE",
    ];
    for sql in STATEMENTS {
        lock(tx, sql, bind![array(posts)]).await?;
    }
    Ok(())
}

/// Locks a member and all administrators, so that two commands do not remove the last two administrators at the same
/// time.
pub async fn member_and_administrators(tx: &Transaction<'_>, member: i64) -> BoardResult<()> {
    let sql = "
        SELECT id FROM member WHERE id = ?1 OR groups LIKE '%administrators%' ORDER BY id FOR NO KEY UPDATE";
    lock(tx, sql, bind![member]).await
}

/// Waits for all other writes, and blocks new writes until the end of the transaction. Reads continue. Postgres plans
/// the statements of the transaction for their values, because they change many rows.
///
/// On Postgres, new writes wait as soon as this function waits, and a `VACUUM` or the creation of an index can hold a
/// table for hours. The transaction therefore fails if this function waits longer than 1.5 s for a table, or a later
/// statement for a row. The limit is longer than `deadlock_timeout` (one second), after which Postgres cancels an
/// automatic vacuum for which a lock waits.
pub async fn board(tx: &Transaction<'_>) -> BoardResult<()> {
    tx.execute_batch(tx.dialect(
        "",
        "SET LOCAL plan_cache_mode = auto; SET LOCAL lock_timeout = '1500ms';
        LOCK TABLE thread, member, post, forum, forum_count IN EXCLUSIVE MODE",
    ))
    .await
}

/// Lets Postgres end the transaction if the process does not send its next statement within 1.5 s, for example because it was
/// stopped.
pub async fn limit_pauses(tx: &Transaction<'_>) -> BoardResult<()> {
    let limit = "SET LOCAL idle_in_transaction_session_timeout = '1500ms'";
    tx.execute_batch(tx.dialect("", limit)).await
}

/// Excludes other transactions that add forums.
pub async fn forum_tree(tx: &Transaction<'_>) -> BoardResult<()> {
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended('board forums', 0))";
    lock(tx, sql, &[]).await
}
