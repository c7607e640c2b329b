//! Removal of the content of a member in batches, before the account is erased. Each batch is a short transaction after
//! which all counters are right, so that an erasure that ended between two batches can be repeated. A post that is
//! restored between two batches can have lost ratings: they still count for its author, and their raters can rate the post
//! again. What is left to the transaction that removes the account are the rows that were written meanwhile.

use std::ops::ControlFlow::{Break, Continue};

use forum_api::host::{BoardError, BoardResult};

use super::db::{Row, Transaction, bind, json};
use super::locks::{self, LockTarget};
use super::posts::moderation::MAX_BATCH_LENGTH;
use super::posts::post_row;

/// Maximum number of rows that a batch removes.
const MAX_ROWS: i64 = 100;

/// The content of a member that is not removed yet.
#[derive(Clone, Copy, Debug)]
pub struct ContentOfMember {
    member: i64,
    /// Whether posts are removed. They otherwise stay without author.
    with_posts: bool,
    /// Time and id of the last post that is done.
    after: (i64, i64),
}

#[derive(Clone, Copy, Debug)]
struct OwnPost {
    id: i64,
    thread: i64,
    is_first: bool,
    written_at: i64,
}

impl ContentOfMember {
    pub const fn new(member: i64, with_posts: bool) -> Self {
        Self { member, with_posts, after: (i64::MIN, 0) }
    }

    /// Removes the next rows. Returns what is left; `None` at its end.
    ///
    /// # Errors
    /// If posts are removed, and one of them is not deleted.
    pub async fn remove_batch(mut self, tx: &Transaction<'_>) -> BoardResult<Option<Self>> {
        let posts = self.next_posts(tx).await?;
        let Some(next) = posts.first() else {
            let is_changed = self.remove_threads(tx).await?
                || remove_messages(tx, self.member).await?
                || remove_sender(tx, self.member).await?
                || remove_participation(tx, self.member).await?
                || remove_relations(tx, self.member).await?;
            return Ok(is_changed.then_some(self));
        };
        let done = if !self.with_posts {
            remove_author(tx, &posts).await?;
            posts.last()
        } else if next.is_first {
            remove_replies(tx, next.thread).await?.then_some(next)
        } else {
            let replies: Vec<_> = posts.iter().take_while(|post| !post.is_first).collect();
            let ids: Vec<_> = replies.iter().map(|post| post.id).collect();
            let is_done = remove_own_replies(tx, &ids).await?;
            replies.last().copied().filter(|_| is_done)
        };
        if let Some(done) = done {
            self.after = (done.written_at, done.id);
        }
        Ok(Some(self))
    }

    /// Reads the next posts, up to `MAX_ROWS`. Posts that stay are indexed again without author: their words have up to
    /// `MAX_BATCH_LENGTH` together, unless there is only one post.
    async fn next_posts(&self, tx: &Transaction<'_>) -> BoardResult<Vec<OwnPost>> {
        let find = "
            SELECT
                id, thread_id, number = 1 AS is_first, written_at,
                CASE WHEN :stay THEN CAST(length(body_words) AS BIGINT) ELSE 0 END AS length
            FROM post
            WHERE author_id = :member AND (written_at, id) > (:time, :post)
            ORDER BY written_at, id LIMIT :rows";
        let (time, post) = self.after;
        let parameters = bind! {
            ":member": self.member, ":time": time, ":post": post, ":rows": MAX_ROWS,
            ":stay": !self.with_posts,
        };
        let mut posts: Vec<OwnPost> = Vec::new();
        let mut batch_length = 0_i64;
        let mut read = |row: &Row<'_>| {
            batch_length += row.value::<i64>("length")?;
            if batch_length > MAX_BATCH_LENGTH && !posts.is_empty() {
                return Ok(Break(()));
            }
            posts.push(OwnPost {
                id: row.value("id")?,
                thread: row.value("thread_id")?,
                is_first: row.value("is_first")?,
                written_at: row.value("written_at")?,
            });
            Ok(Continue(()))
        };
        tx.each_row(find, parameters, &mut read).await?;
        Ok(posts)
    }

    /// Removes threads that the member started, or their author. Returns `false` if there are none.
    async fn remove_threads(&self, tx: &Transaction<'_>) -> BoardResult<bool> {
        let find = "SELECT id FROM thread WHERE author_id = ?1 ORDER BY id LIMIT ?2";
        let threads: Vec<i64> =
            tx.all(find, bind![self.member, MAX_THREADS], |row| row.value("id")).await?;
        if threads.is_empty() {
            return Ok(false);
        }
        // A thread that another transaction restores is not removed.
        locks::threads(tx, &threads).await?;
        let threads = json(&threads)?;
        if !self.with_posts {
            let update = "
                UPDATE thread SET
                    author_id = NULL, last_author_id = CASE WHEN last_author_id <> :member THEN last_author_id END
                WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads))";
            tx.execute(update, bind! { ":member": self.member, ":threads": threads }).await?;
            return Ok(true);
        }
        let is_restored = "
            SELECT 1 FROM thread
            WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1)) AND state <> 'deleted' LIMIT 1";
        if tx.any(is_restored, bind![threads]).await? {
            return Err(restored_meanwhile());
        }
        for statement in PARTS_OF_THREADS {
            let parameters = bind! { ":threads": threads, ":rows": MAX_ROWS };
            if tx.execute(statement, parameters).await? > 0 {
                return Ok(true);
            }
        }
        for statement in THREADS {
            tx.execute(statement, bind![threads]).await?;
        }
        Ok(true)
    }
}

/// Returns the error of an erasure with posts if one of them is not deleted.
pub fn restored_meanwhile() -> BoardError {
    BoardError::conflict("a post of the member was restored meanwhile")
}

/// Maximum number of threads that a batch removes.
const MAX_THREADS: i64 = 20;

/// Rows of threads without replies that other members wrote. Each statement changes up to `:rows` rows. A rating of a removed
/// post does not count as one by its rater, because it would become a rating without a post.
const PARTS_OF_THREADS: [&str; 4] = [
    "DELETE FROM ballot WHERE id IN (
        SELECT ballot.id FROM poll JOIN ballot ON ballot.poll_id = poll.id
        WHERE poll.thread_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads)) LIMIT :rows
    )",
    "DELETE FROM thread_author WHERE (thread_id, author_id) IN (
        SELECT thread_id, author_id FROM thread_author
        WHERE thread_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads))
            AND post_count = 0 AND counted = 0
        LIMIT :rows
    )",
    "DELETE FROM subscription WHERE id IN (
        SELECT id FROM subscription
        WHERE target = 'thread' AND target_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads))
        LIMIT :rows
    )",
    "UPDATE rating SET rater_id = NULL, post_id = NULL
    WHERE id IN (
        SELECT rating.id FROM post JOIN rating ON rating.post_id = post.id
        WHERE post.thread_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads)) LIMIT :rows
    )",
];

/// Removes deleted threads of which no [`PARTS_OF_THREADS`] are left.
const THREADS: [&str; 2] = [
    // The threads are hidden, so their posts are not to count on profiles.
    "UPDATE member SET post_count = post_count - part.posts
    FROM (
        SELECT author_id, CAST(sum(counted) AS BIGINT) AS posts FROM thread_author
        WHERE thread_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1)) AND counted <> 0 GROUP BY author_id
    ) AS part
    WHERE member.id = part.author_id",
    "DELETE FROM thread WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))",
];

async fn remove_author(tx: &Transaction<'_>, posts: &[OwnPost]) -> BoardResult<()> {
    let update = "
        UPDATE post SET author_id = NULL
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))";
    let ids: Vec<_> = posts.iter().map(|post| post.id).collect();
    tx.execute(update, bind![json(&ids)?]).await.map(drop)
}

/// Removes replies of the member in threads of others. A reply that was deleted in a hidden thread stays without author and
/// texts until the thread is visible and receivers of events get the deletion. Returns `false` if the replies had ratings,
/// which are removed first.
///
/// # Errors
/// If one of the replies is not deleted.
async fn remove_own_replies(tx: &Transaction<'_>, replies: &[i64]) -> BoardResult<bool> {
    const IS_RESTORED: &str = "
        SELECT 1 FROM post
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1)) AND state <> 'deleted' LIMIT 1";
    const EMPTY_WAITING: &str = "
        UPDATE post SET
            erased = TRUE, author_id = NULL, edited_by = NULL, edit_reason = NULL, body = '', body_html = '', body_words = ''
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))
            AND update_waits AND published AND NOT withdrawn";
    const REMOVE_OTHERS: &str = "
        DELETE FROM post
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1)) AND NOT erased";
    locks::posts(tx, replies).await?;
    let ids = json(replies)?;
    if tx.any(IS_RESTORED, bind![ids]).await? {
        return Err(restored_meanwhile());
    }
    if forget_raters(tx, replies).await? {
        return Ok(false);
    }
    for statement in [EMPTY_WAITING, REMOVE_OTHERS] {
        tx.execute(statement, bind![ids]).await?;
    }
    Ok(true)
}

/// Removes the rater and the post from up to `MAX_ROWS` ratings of posts that are to be removed, because these would become
/// ratings without a post by their raters. Returns `false` if there are none.
async fn forget_raters(tx: &Transaction<'_>, posts: &[i64]) -> BoardResult<bool> {
    let update = "
        UPDATE rating SET rater_id = NULL, post_id = NULL
        WHERE id IN (
            SELECT id FROM rating
            WHERE post_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:posts)) LIMIT :rows
        )";
    let parameters = bind! { ":posts": json(posts)?, ":rows": MAX_ROWS };
    Ok(tx.execute(update, parameters).await? > 0)
}

/// Removes posts that are deleted or belong to a deleted thread.
async fn remove_posts(tx: &Transaction<'_>, posts: &[i64]) -> BoardResult<()> {
    let delete = "
        DELETE FROM post
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))
            AND (
                state = 'deleted'
                OR (SELECT thread.state FROM thread WHERE thread.id = post.thread_id) = 'deleted'
            )";
    tx.execute(delete, bind![json(posts)?]).await.map(drop)
}

/// Removes replies of a deleted thread. Returns whether none is left.
async fn remove_replies(tx: &Transaction<'_>, thread: i64) -> BoardResult<bool> {
    const COUNT_OF_AUTHORS: &str = "
        UPDATE thread_author SET post_count = post_count - part.posts
        FROM (
            SELECT author_id, count(*) AS posts FROM post
            WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:posts)) AND state = 'visible'
            GROUP BY author_id
        ) AS part
        WHERE thread_author.thread_id = :thread AND thread_author.author_id = part.author_id";
    LockTarget::Thread(thread).lock(tx, None).await?;
    let is_restored = "SELECT 1 FROM thread WHERE id = ?1 AND state <> 'deleted'";
    if tx.any(is_restored, bind![thread]).await? {
        return Err(restored_meanwhile());
    }
    let find_replies = "
        SELECT id, state = 'visible' AS is_counted FROM post
        WHERE thread_id = ?1 AND id <> (SELECT first_post_id FROM thread WHERE id = ?1) LIMIT ?2";
    let mut counted = 0_i64;
    let posts: Vec<i64> = tx
        .all(find_replies, bind![thread, MAX_ROWS], |row| {
            counted += i64::from(row.value::<bool>("is_counted")?);
            row.value("id")
        })
        .await?;
    if posts.is_empty() {
        return Ok(true);
    }
    if forget_raters(tx, &posts).await? {
        return Ok(false);
    }
    let of_authors = bind! { ":thread": thread, ":posts": json(&posts)? };
    tx.execute(COUNT_OF_AUTHORS, of_authors).await?;
    remove_posts(tx, &posts).await?;
    tx.execute(post_row::COUNT_IN_THREAD, bind! { ":thread": thread, ":by": -counted }).await?;
    Ok(false)
}

/// Removes those of the messages `:messages` of which no other member than `:member` has a copy.
const UNSHARED_MESSAGES: &str = "
    DELETE FROM message
    WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:messages))
        AND NOT EXISTS (
            SELECT 1 FROM message_copy
            WHERE message_copy.message_id = message.id AND message_copy.owner_id <> :member
        )";

/// Removes messages in the folders of a member. Returns `false` if there are none.
async fn remove_messages(tx: &Transaction<'_>, member: i64) -> BoardResult<bool> {
    const STATEMENTS: [&str; 2] = [
        "DELETE FROM message_copy WHERE owner_id = :member AND message_id IN (
            SELECT CAST(value AS BIGINT) FROM json_each(:messages)
        )",
        UNSHARED_MESSAGES,
    ];
    let find = "SELECT message_id FROM message_copy WHERE owner_id = ?1 LIMIT ?2";
    let messages: Vec<i64> =
        tx.all(find, bind![member, MAX_ROWS], |row| row.value("message_id")).await?;
    if messages.is_empty() {
        return Ok(false);
    }
    let parameters = bind! { ":member": member, ":messages": json(&messages)? };
    tx.execute_independent(&STATEMENTS, parameters).await?;
    Ok(true)
}

/// Removes the member as the sender of messages that others have. Returns `false` if there are none.
async fn remove_sender(tx: &Transaction<'_>, member: i64) -> BoardResult<bool> {
    const STATEMENTS: [&str; 2] = [
        UNSHARED_MESSAGES,
        "UPDATE message SET sender_id = NULL
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:messages)) AND sender_id = :member",
    ];
    let find = "SELECT id FROM message WHERE sender_id = ?1 LIMIT ?2";
    let messages: Vec<i64> = tx.all(find, bind![member, MAX_ROWS], |row| row.value("id")).await?;
    if messages.is_empty() {
        return Ok(false);
    }
    let messages = json(&messages)?;
    for statement in STATEMENTS {
        tx.execute(statement, bind! { ":member": member, ":messages": messages }).await?;
    }
    Ok(true)
}

/// Removes the member from threads of others in which the member wrote. Returns `false` if there are none.
async fn remove_participation(tx: &Transaction<'_>, member: i64) -> BoardResult<bool> {
    const STATEMENTS: [&str; 2] = [
        "UPDATE thread SET last_author_id = NULL
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads)) AND last_author_id = :member",
        "DELETE FROM thread_author
        WHERE author_id = :member AND thread_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:threads))",
    ];
    let find = "SELECT thread_id FROM thread_author WHERE author_id = ?1 LIMIT ?2";
    let threads: Vec<i64> =
        tx.all(find, bind![member, MAX_ROWS], |row| row.value("thread_id")).await?;
    if threads.is_empty() {
        return Ok(false);
    }
    let parameters = bind! { ":member": member, ":threads": json(&threads)? };
    tx.execute_independent(&STATEMENTS, parameters).await?;
    Ok(true)
}

/// Removes rows that refer to the member. Each statement changes up to `:rows` rows. Returns `false` if there are none.
async fn remove_relations(tx: &Transaction<'_>, member: i64) -> BoardResult<bool> {
    const STATEMENTS: [&str; 6] = [
        "DELETE FROM rating WHERE id IN (SELECT id FROM rating WHERE member_id = :member LIMIT :rows)",
        "UPDATE rating SET rater_id = NULL
        WHERE id IN (SELECT id FROM rating WHERE rater_id = :member LIMIT :rows)",
        "UPDATE ballot SET member_id = NULL
        WHERE id IN (SELECT id FROM ballot WHERE member_id = :member LIMIT :rows)",
        "DELETE FROM subscription
        WHERE id IN (SELECT id FROM subscription WHERE member_id = :member LIMIT :rows)",
        "UPDATE post SET edited_by = NULL, edit_reason = NULL
        WHERE id IN (SELECT id FROM post WHERE edited_by = :member LIMIT :rows)",
        "DELETE FROM member_ignore WHERE (member_id, ignored_id) IN (
            SELECT member_id, ignored_id FROM member_ignore WHERE ignored_id = :member LIMIT :rows
        )",
    ];
    for statement in STATEMENTS {
        let parameters = bind! { ":member": member, ":rows": MAX_ROWS };
        if tx.execute(statement, parameters).await? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
