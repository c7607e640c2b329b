//! Row locks of commands on Postgres, in the order that [`db`] describes. On SQLite a transaction excludes all
//! other writers, and these functions lock nothing.
//!
//! A statement that locks a row reads nothing else. If it has waited for the lock, it returns the latest version of the
//! row, but it would return joined rows as they were when the statement began.

use forum_api::host::BoardResult;
use forum_api::model::{NewMessage, Timestamp, UserRef};

use super::accounts;
use super::db::{self, Driver, Transaction, bind};
use super::messages::recipients;

/// The rows that a command locks besides the row of its own member.
#[derive(Clone, Debug)]
pub enum LockTarget {
    Nothing,
    Thread(i64),
    /// The thread and the author of a post.
    Post(i64),
    /// The thread of a poll.
    Poll(i64),
    Member(UserRef),
    Recipients(NewMessage),
    /// The sender of the message of this copy.
    MessageCopy(i64),
}

impl LockTarget {
    /// Locks the rows, and those of `member`.
    pub async fn lock(&self, tx: &Transaction<'_>, member: Option<i64>) -> BoardResult<()> {
        let members = self.members(tx, member).await?;
        self.lock_with(tx, &members).await
    }

    /// Finds the members whose rows are locked: those of the target, and `member`.
    pub async fn members(
        &self,
        tx: &Transaction<'_>,
        member: Option<i64>,
    ) -> BoardResult<Vec<i64>> {
        let mut members = Vec::from_iter(member);
        if is_exclusive(tx) {
            return Ok(members);
        }
        match self {
            Self::Nothing | Self::Thread(_) | Self::Poll(_) => {}
            Self::Post(post) => {
                members.extend(
                    id(
                        tx,
                        "SELECT author_id AS member FROM post WHERE id = ?1",
                        *post,
                    )
                    .await?,
                );
            }
            Self::Member(user) => members.extend(accounts::find(tx, user).await?),
            Self::Recipients(message) => {
                members.extend(recipients::existing(tx, &message.to).await?);
            }
            Self::MessageCopy(copy) => members.extend(id(tx, SENDER, *copy).await?),
        }
        Ok(members)
    }

    /// Locks the thread of the target, and then the members. Sends all its statements when it is first polled.
    pub async fn lock_with(&self, tx: &Transaction<'_>, members: &[i64]) -> BoardResult<()> {
        let thread = async {
            match self {
                _ if is_exclusive(tx) => Ok(false),
                Self::Thread(thread) => tx.any(THREAD, bind![*thread]).await,
                Self::Post(post) => tx.any(THREAD_OF_POST, bind![*post]).await,
                Self::Poll(poll) => tx.any(THREAD_OF_POLL, bind![*poll]).await,
                _ => Ok(false),
            }
        };
        tokio::try_join!(biased; thread, self::members(tx, members))?;
        Ok(())
    }
}

const THREAD: &str = "SELECT id FROM thread WHERE id = ?1 FOR NO KEY UPDATE";

const THREAD_OF_POST: &str = "
    SELECT id FROM thread WHERE id = (SELECT thread_id FROM post WHERE id = ?1) FOR NO KEY UPDATE";

const THREAD_OF_POLL: &str = "
    SELECT id FROM thread WHERE id = (SELECT thread_id FROM poll WHERE id = ?1) FOR NO KEY UPDATE";

const SENDER: &str = "
    SELECT message.sender_id AS member FROM message_copy JOIN message ON message.id = message_copy.message_id
    WHERE message_copy.id = ?1";

/// Reads the id of the member that a query selects, if there is one.
async fn id(tx: &Transaction<'_>, query: &'static str, of: i64) -> db::DbResult<Option<i64>> {
    let found = tx
        .first(query, bind![of], |row| row.value("member"))
        .await?;
    Ok(found.flatten())
}

pub async fn members(tx: &Transaction<'_>, ids: &[i64]) -> db::DbResult<()> {
    let lock = "
        SELECT id FROM member WHERE id = ANY (CAST(CAST(?1 AS TEXT) AS BIGINT [])) ORDER BY id FOR NO KEY UPDATE";
    if is_exclusive(tx) || ids.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = ids.iter().map(i64::to_string).collect();
    let array = format!("{{{}}}", texts.join(","));
    tx.any(lock, bind![array]).await.map(drop)
}

pub async fn forum(tx: &Transaction<'_>, id: i64) -> db::DbResult<()> {
    let lock = "SELECT id FROM forum WHERE id = ?1 FOR NO KEY UPDATE";
    if is_exclusive(tx) {
        Ok(())
    } else {
        tx.any(lock, bind![id]).await.map(drop)
    }
}

/// Returns the time of the newest thread or reply in a forum, or in the forum of a thread. Locks the forum only if
/// the transaction runs again after a conflict: conflicts are rare, and a lock in each first attempt would block other
/// commands of the forum for longer.
pub async fn newest_in_forum(
    tx: &Transaction<'_>,
    forum: Option<i64>,
    thread: Option<i64>,
) -> db::DbResult<Option<Timestamp>> {
    let find = match &tx.driver {
        Driver::Postgres(postgres) if postgres.is_repeated() => {
            "SELECT newest_at FROM forum WHERE id = coalesce(:forum, (SELECT forum_id FROM thread WHERE id = :thread))
             FOR NO KEY UPDATE"
        }
        _ => "SELECT newest_at FROM forum WHERE id = coalesce(:forum, (SELECT forum_id FROM thread WHERE id = :thread))",
    };
    let parameters = bind! { ":forum": forum, ":thread": thread };
    tx.first(find, parameters, |row| row.value("newest_at"))
        .await
}

/// Locks the authors of the visible posts of a thread.
pub async fn authors(tx: &Transaction<'_>, thread: i64) -> db::DbResult<()> {
    if is_exclusive(tx) {
        return Ok(());
    }
    let find = "
        SELECT DISTINCT author_id FROM post
        WHERE thread_id = ?1 AND state = 'visible' AND author_id IS NOT NULL";
    let authors = tx
        .all(find, bind![thread], |row| row.value("author_id"))
        .await?;
    members(tx, &authors).await
}

/// Locks a member and all administrators, so that two commands do not remove the last two administrators at the same
/// time.
pub async fn member_and_administrators(tx: &Transaction<'_>, member: i64) -> db::DbResult<()> {
    if is_exclusive(tx) {
        return Ok(());
    }
    let find = "SELECT id FROM member WHERE groups LIKE '%administrators%'";
    let mut ids = tx.all(find, &[], |row| row.value("id")).await?;
    ids.push(member);
    members(tx, &ids).await
}

/// Waits for all other writes, and blocks new writes until the end of the transaction. Reads continue. Postgres plans
/// the statements of the transaction for their values, because they change many rows.
pub async fn board(tx: &Transaction<'_>) -> db::DbResult<()> {
    tx.execute_batch(tx.dialect(
        "",
        "SET LOCAL plan_cache_mode = auto; LOCK TABLE thread, member, post, forum IN EXCLUSIVE MODE",
    ))
    .await
}

/// Excludes other transactions that add forums.
pub async fn forum_tree(tx: &Transaction<'_>) -> db::DbResult<()> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('board forums', 0))";
    if is_exclusive(tx) {
        Ok(())
    } else {
        tx.any(lock, &[]).await.map(drop)
    }
}

fn is_exclusive(tx: &Transaction<'_>) -> bool {
    matches!(tx.driver, Driver::Sqlite(_))
}
