//! A post with its thread as commands read it, and its state transitions.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::{ContentState, Timestamp};

use super::post_events::{CREATED, DELETED, EventScope, EventsByPlace, REPLIED, THREAD_UPDATED};
use crate::board::access::actor::Actor;
use crate::board::access::visibility::is_visible;
use crate::board::accounts::post_count;
use crate::board::db::{Connection, Row, Transaction, bind};
use crate::board::events::EventRecorder;
use crate::board::forum_count;

#[derive(Clone, Copy, Debug)]
pub struct PostRow {
    pub forum: i64,
    pub thread: i64,
    pub post: i64,
    /// `true` for the first post of a thread. A thread has the state of its first post.
    pub first: bool,
    pub state: ContentState,
    pub state_before: Option<ContentState>,
    /// True if `post.created` was sent.
    published: bool,
    /// True if the thread was changed while it awaited approval, without an event.
    thread_update_waits: bool,
    thread_state: ContentState,
    thread_author: Option<i64>,
    /// Number of visible replies of the thread.
    replies: i64,
    author: Option<i64>,
}

impl PostRow {
    /// The columns that [`read`](Self::read) expects.
    pub const COLUMNS: &str = "
        thread.forum_id, thread.id AS thread_id, post.id AS post_id, post.id = thread.first_post_id AS is_first,
        post.state AS post_state, post.state_before, post.published, thread.update_waits,
        thread.state AS thread_state, thread.author_id AS thread_author_id, thread.reply_count,
        post.author_id AS post_author_id";

    pub async fn load(connection: &Connection<'_>, post: i64) -> BoardResult<Option<Self>> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            let columns = PostRow::COLUMNS;
            format!(
                "SELECT {columns} FROM post JOIN thread ON thread.id = post.thread_id WHERE post.id = ?1"
            )
        });
        connection.first(&QUERY, bind![post], Self::read).await
    }

    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        Ok(Self {
            forum: row.value("forum_id")?,
            thread: row.value("thread_id")?,
            post: row.value("post_id")?,
            first: row.value("is_first")?,
            state: row.state("post_state")?,
            state_before: row.maybe_state("state_before")?,
            published: row.value("published")?,
            thread_update_waits: row.value("update_waits")?,
            thread_state: row.state("thread_state")?,
            thread_author: row.value("thread_author_id")?,
            replies: row.value("reply_count")?,
            author: row.value("post_author_id")?,
        })
    }

    /// Returns whether `actor` sees the post.
    pub fn is_visible_to(&self, actor: &Actor) -> bool {
        let access = actor.access(self.forum);
        let is_own = |author: Option<i64>| author.is_some() && author == actor.member;
        is_visible(access, self.thread_state, is_own(self.thread_author))
            && is_visible(access, self.state, is_own(self.author))
    }

    /// Returns whether all callers who see the forum see the post.
    pub fn is_public(&self) -> bool {
        (self.state, self.thread_state) == (ContentState::Visible, ContentState::Visible)
    }

    /// Records the events of a post that becomes visible to all callers who see the forum: `republished` if it was
    /// published before, and otherwise the events of a new thread or post. For a first post, it also publishes replies
    /// that were approved while the thread was hidden.
    pub async fn publish(
        &self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
        republished: EventsByPlace,
    ) -> BoardResult<()> {
        let recorded = if self.published { republished } else { CREATED };
        self.record(tx, events, recorded).await?;
        let thread = self.first.then_some(self.thread);
        let parameters = bind! { ":post": self.post, ":thread": thread };
        let mut published: Vec<i64> = tx.all(PUBLISH, parameters, |row| row.value("id")).await?;
        if !events.has_readers {
            return Ok(());
        }
        published.retain(|post| *post != self.post);
        published.sort_unstable();
        for post in published {
            let (scope, reply) =
                EventScope::load_with_post(tx, self.thread, post, events.actor).await?;
            scope.record(events, REPLIED, &reply.post)?;
        }
        Ok(())
    }

    /// Records `thread.updated` for a first post that was published before and is approved, if its thread was changed while it
    /// awaited approval.
    pub async fn record_waiting_update(
        &self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
    ) -> BoardResult<()> {
        if !self.first || !self.thread_update_waits {
            return Ok(());
        }
        let update = "UPDATE thread SET update_waits = FALSE WHERE id = ?1";
        tx.execute(update, bind![self.thread]).await?;
        if self.published {
            let updated = EventsByPlace { of_first: THREAD_UPDATED, of_reply: &[] };
            self.record(tx, events, updated).await?;
        }
        Ok(())
    }

    /// Records the events of a change.
    pub async fn record(
        &self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
        changed: EventsByPlace,
    ) -> BoardResult<()> {
        if !events.has_readers {
            return Ok(());
        }
        let kinds = if self.first { changed.of_first } else { changed.of_reply };
        let (scope, post) =
            EventScope::load_with_post(tx, self.thread, self.post, events.actor).await?;
        scope.record(events, kinds, &post.post)
    }

    /// Changes the state of the post at the time `now`, and updates the counters. For a first post, also changes the state of
    /// its thread. `on_profiles` is true if posts in the forum count on profiles.
    pub async fn set_state(
        &mut self,
        tx: &Transaction<'_>,
        to: ContentState,
        now: Timestamp,
        on_profiles: bool,
    ) -> BoardResult<()> {
        let post = "
            UPDATE post SET
                state = :to, version = version + 1,
                state_before = CASE WHEN :to = 'deleted' THEN state END,
                deleted_at = CASE WHEN :to = 'deleted' THEN CAST(:now AS BIGINT) END
            WHERE id = :post";
        let thread = "
            UPDATE thread SET state = :to, version = version + 1 WHERE id = :thread AND first_post_id = :post";
        let parameters = bind! {
            ":post": self.post, ":thread": self.thread, ":to": to.as_str(), ":now": now,
        };
        tx.execute_independent(&[post, thread], parameters).await?;
        self.count_state(tx, to, on_profiles).await
    }

    /// Soft-deletes the post, or the whole thread with its first post, and records the event if the post was public. Also records
    /// it for a post that was public until an edit that awaits approval: who received its events would keep it otherwise.
    pub async fn delete(
        &mut self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
        on_profiles: bool,
    ) -> BoardResult<()> {
        let awaits_approval_of_edit = self.published
            && self.state == ContentState::AwaitingApproval
            && (self.first || self.thread_state == ContentState::Visible);
        let is_known = self.is_public() || awaits_approval_of_edit;
        self.set_state(tx, ContentState::Deleted, events.now, on_profiles).await?;
        if is_known {
            self.record(tx, events, DELETED).await?;
        }
        Ok(())
    }

    /// Updates the counters after a change of the state of the post and, for a first post, of its thread.
    pub async fn count_state(
        &mut self,
        tx: &Transaction<'_>,
        to: ContentState,
        on_profiles: bool,
    ) -> BoardResult<()> {
        if self.first {
            self.thread_state = to;
        }
        let by =
            i64::from(to == ContentState::Visible) - i64::from(self.state == ContentState::Visible);
        self.state = to;
        if by == 0 {
            return Ok(());
        }
        if self.first {
            self.count_thread(tx, by, on_profiles).await
        } else {
            self.count_reply(tx, by, on_profiles).await
        }
    }

    /// Counts a reply in its thread; if the thread is visible, also in the forum and on the profile. `by` is 1 if the post
    /// becomes visible, and -1 if it stops being visible.
    async fn count_reply(
        &self,
        tx: &Transaction<'_>,
        by: i64,
        on_profiles: bool,
    ) -> BoardResult<()> {
        let [add_in_thread, add_on_profile] = post_count::ADD;
        let in_forum = if self.thread_state == ContentState::Visible { by } else { 0 };
        let on_profile = if on_profiles { in_forum } else { 0 };
        let parameters = bind! {
            ":thread": self.thread, ":by": by, ":author": self.author, ":added": by,
            ":counted": on_profile, ":forum": self.forum, ":threads": 0_i64, ":posts": in_forum,
            ":newest": 0_i64,
        };
        let statements = [add_in_thread, add_on_profile, COUNT_IN_THREAD, tx.on(&forum_count::ADD)];
        tx.execute_independent(&statements, parameters).await.map(drop)
    }

    /// Counts a thread with its first post and all visible replies. Posts of several authors are counted on profiles later.
    async fn count_thread(
        &self,
        tx: &Transaction<'_>,
        by: i64,
        on_profiles: bool,
    ) -> BoardResult<()> {
        let [add_in_thread, add_on_profile] = post_count::ADD;
        let counts = by > 0 && on_profiles;
        let change =
            post_count::change_of_single_author(tx, self.thread, self.author, by, counts).await?;
        let counted = change.unwrap_or_default();
        let posts = by * (1 + self.replies);
        let mut parameters = bind! {
            ":thread": self.thread, ":author": self.author, ":added": by,
            ":counted": counted, ":forum": self.forum, ":threads": by, ":posts": posts,
            ":newest": 0_i64,
        }
        .to_vec();
        let add_in_forum = tx.on(&forum_count::ADD);
        let statements: &[_] = if change.is_some() {
            &[add_in_thread, add_on_profile, post_count::UNMARK, add_in_forum]
        } else {
            parameters.extend(bind! { ":counts": counts });
            &[add_in_thread, post_count::MARK, add_in_forum]
        };
        tx.execute_independent(statements, &parameters).await.map(drop)
    }
}

/// Adds `:by` to the replies of a thread, and finds its last post: the last visible one, or else the first post.
pub const COUNT_IN_THREAD: &str = "
    UPDATE thread SET
        reply_count = reply_count + :by,
        (last_post_id, last_author_id, last_activity_at) = (
            SELECT id, author_id, created_at FROM post
            WHERE id = coalesce(
                (
                    SELECT last.id FROM post AS last
                    WHERE last.thread_id = thread.id AND last.state = 'visible'
                    ORDER BY last.created_at DESC, last.id DESC LIMIT 1
                ),
                thread.first_post_id
            )
        )
    WHERE id = :thread";

/// Marks a post as published, and also the visible posts of `:thread`. Returns the ids of the changed posts.
const PUBLISH: &str = "
    UPDATE post SET published = TRUE
    WHERE NOT published AND id IN (
        SELECT CAST(:post AS BIGINT)
        UNION ALL
        SELECT id FROM post WHERE thread_id = :thread AND NOT published AND state = 'visible'
    )
    RETURNING id";
