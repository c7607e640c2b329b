//! Number of posts on the profile of a member.
//!
//! The posts of a thread count while the thread is visible in a forum that members can read. Hiding or showing a thread of one
//! author changes the count at once. A thread can have any number of authors, so otherwise hiding or showing it only marks it
//! in `thread_recount`, and [`RecountBatch`] then changes the counts of its authors. Meanwhile [`SHOWN`] adds the difference, of
//! up to 1,000 threads: while more of them wait, a profile does not show the change of the further ones yet.

use forum_api::host::BoardResult;

use crate::board::db::{LastChange, Transaction, bind};

/// The number that the profile of the row `member` shows. It includes the threads that are recounted next; their number is
/// limited, because each profile looks up all of them.
pub const SHOWN: &str = "
    member.post_count + coalesce((
        SELECT CAST(sum((
            SELECT CASE WHEN thread_recount.counts THEN thread_author.post_count ELSE 0 END - thread_author.counted
            FROM thread_author
            WHERE thread_author.thread_id = thread_recount.thread_id AND thread_author.author_id = member.id
        )) AS BIGINT)
        FROM (SELECT thread_id, counts FROM thread_recount ORDER BY thread_id LIMIT 1000) AS thread_recount
    ), 0)";

/// Adds `:added` visible posts of `:author` to `:thread`, of which `:counted` count on the profile. The author is null if
/// the account is removed.
pub const ADD: [&str; 2] = [
    "INSERT INTO thread_author (thread_id, author_id, post_count, counted)
    SELECT CAST(:thread AS BIGINT), CAST(:author AS BIGINT), CAST(:added AS BIGINT), CAST(:counted AS BIGINT)
    WHERE CAST(:author AS BIGINT) IS NOT NULL AND CAST(:added AS BIGINT) <> 0
    ON CONFLICT (thread_id, author_id) DO UPDATE SET
        post_count = thread_author.post_count + excluded.post_count,
        counted = thread_author.counted + excluded.counted",
    "UPDATE member SET post_count = post_count + :counted WHERE id = :author",
];

/// Marks `:thread` for a recount. `:counts` is true if its posts are to count on profiles.
pub const MARK: &str = "
    INSERT INTO thread_recount (thread_id, counts) VALUES (:thread, :counts)
    ON CONFLICT (thread_id) DO UPDATE SET counts = excluded.counts, last_author_id = 0";

/// Removes the mark of `:thread`.
pub const UNMARK: &str = "DELETE FROM thread_recount WHERE thread_id = :thread";

/// Returns the change of the count of `author` with a thread, if the thread has no other authors; otherwise `None`. `added`
/// visible posts of the author are added to the thread, and `counts` is `true` if its posts are to count on profiles.
pub async fn change_of_single_author(
    tx: &Transaction<'_>,
    thread: i64,
    author: Option<i64>,
    added: i64,
    counts: bool,
) -> BoardResult<Option<i64>> {
    let find = "
        SELECT author_id, post_count, counted FROM thread_author WHERE thread_id = ?1 LIMIT 2";
    let authors = tx
        .all(find, bind![thread], |row| {
            Ok((row.value("author_id")?, row.value("post_count")?, row.value("counted")?))
        })
        .await?;
    let (post_count, counted): (i64, i64) = match &authors[..] {
        [] => (0, 0),
        [(single, post_count, counted)] if author == Some(*single) => (*post_count, *counted),
        _ => return Ok(None),
    };
    let counted_now = if counts && author.is_some() { post_count + added } else { 0 };
    Ok(Some(counted_now - counted))
}

/// Maximum number of authors whose posts one transaction recounts.
const MAX_AUTHORS: i64 = 50;

/// Returns a marked thread; `None` if no thread is marked.
pub async fn marked_thread(tx: &Transaction<'_>) -> BoardResult<Option<i64>> {
    let find = "SELECT thread_id FROM thread_recount ORDER BY thread_id LIMIT 1";
    tx.first(find, &[], |row| row.value("thread_id")).await
}

/// The next authors of a marked thread.
#[derive(Debug)]
pub struct RecountBatch {
    thread: i64,
    /// Ids in ascending order. Their rows are locked before the batch is written.
    authors: Vec<i64>,
}

impl RecountBatch {
    /// Returns the next authors of a thread, whose row is locked. A thread that is not marked has none.
    pub async fn of_thread(tx: &Transaction<'_>, thread: i64) -> BoardResult<Self> {
        let find = "
            SELECT author_id FROM thread_author
            WHERE thread_id = :thread
                AND author_id > (SELECT last_author_id FROM thread_recount WHERE thread_id = :thread)
            ORDER BY author_id LIMIT :rows";
        let parameters = bind! { ":thread": thread, ":rows": MAX_AUTHORS };
        let authors = tx.all(find, parameters, |row| row.value("author_id")).await?;
        Ok(Self { thread, authors })
    }

    pub fn authors(&self) -> &[i64] {
        &self.authors
    }

    /// Counts or removes the posts of these authors on their profiles, removes the mark of the thread after its last authors,
    /// and commits. `lock` locks the authors: on Postgres it is sent with the changes and the commit, so that the locks of
    /// members, whose commands in other threads wait for them, last no round trip.
    pub async fn commit(
        self,
        tx: &Transaction<'_>,
        lock: Option<LastChange<'_>>,
    ) -> BoardResult<()> {
        const COUNT: [[&str; 1]; 3] = [
            ["UPDATE member SET post_count = post_count + part.difference
            FROM (
                SELECT author_id, CASE WHEN counts THEN post_count ELSE 0 END - counted AS difference
                FROM thread_author JOIN thread_recount ON thread_recount.thread_id = thread_author.thread_id
                WHERE thread_author.thread_id = :thread AND author_id > last_author_id AND author_id <= :last
            ) AS part
            WHERE member.id = part.author_id"],
            ["UPDATE thread_author SET counted = CASE WHEN counts THEN post_count ELSE 0 END
            FROM thread_recount
            WHERE thread_recount.thread_id = :thread AND thread_author.thread_id = :thread
                AND author_id > last_author_id AND author_id <= :last"],
            ["UPDATE thread_recount SET last_author_id = :last WHERE thread_id = :thread"],
        ];

        let last = self.authors.last().copied().unwrap_or_default();
        let part = bind! { ":thread": self.thread, ":last": last };
        let thread = bind! { ":thread": self.thread };
        let mut changes = Vec::from_iter(lock);
        changes.extend(COUNT.iter().map(|statement| LastChange::Statements(statement, part)));
        if (self.authors.len() as i64) < MAX_AUTHORS {
            changes.push(LastChange::Statements(&[UNMARK], thread));
        }
        tx.commit_with(&changes).await
    }
}
