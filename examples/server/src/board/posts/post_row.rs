//! A post with its thread as commands read it, and its state transitions.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::{ContentState, Timestamp};

use super::post_events::{
    CREATED, DELETED, EDITED, EventScope, PostEvents, RESTORED, THREAD_UPDATED,
};
use crate::board::access::actor::Actor;
use crate::board::access::visibility::is_visible;
use crate::board::accounts::post_count;
use crate::board::db::{Connection, Row, Transaction, bind, json};
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
    pub published: bool,
    /// True if the last event of the post, or for a first post of its thread, was the deletion.
    withdrawn: bool,
    /// True if the text or the title was edited without an event.
    edit_waits: bool,
    /// True if the reply was changed while its thread was hidden, and the events were not sent.
    update_waits: bool,
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
        post.state AS post_state, post.state_before, post.published, post.withdrawn, post.edit_waits,
        post.update_waits, thread.update_waits AS thread_update_waits,
        thread.state AS thread_state, thread.author_id AS thread_author_id, thread.reply_count,
        post.author_id AS post_author_id";

    /// Loads a post. Returns `None` if it does not exist, or was removed with its author and its row stays for the event of its
    /// deletion.
    pub async fn load(connection: &Connection<'_>, post: i64) -> BoardResult<Option<Self>> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            let columns = PostRow::COLUMNS;
            format!(
                "SELECT {columns} FROM post JOIN thread ON thread.id = post.thread_id WHERE post.id = ?1 AND NOT post.erased"
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
            withdrawn: row.value("withdrawn")?,
            edit_waits: row.value("edit_waits")?,
            update_waits: row.value("update_waits")?,
            thread_update_waits: row.value("thread_update_waits")?,
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

    /// Returns whether the events of a change are sent with the change. Those of a reply in a hidden thread wait until the thread
    /// is visible.
    pub fn has_events_at_once(&self) -> bool {
        self.first || self.thread_state == ContentState::Visible
    }

    /// Returns the events that are missing, after which receivers know the post in its present state. There are none while a
    /// post awaits approval.
    fn missing_events(&self) -> [PostEvents; 2] {
        let edited = if self.edit_waits { EDITED } else { &[] };
        match self.state {
            ContentState::Visible if !self.published => [CREATED.at(self.first), &[]],
            ContentState::Visible if self.withdrawn => {
                // The event of a reply contains its text, and that of a thread does not contain its first post.
                [RESTORED.at(self.first), if self.first { edited } else { &[] }]
            }
            ContentState::Visible if self.first && self.thread_update_waits => {
                [THREAD_UPDATED, edited]
            }
            ContentState::Visible => [edited, &[]],
            ContentState::Deleted if self.published && !self.withdrawn => {
                [DELETED.at(self.first), &[]]
            }
            _ => [&[], &[]],
        }
    }

    /// Records the missing events.
    pub async fn record_missing(
        &self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
    ) -> BoardResult<()> {
        let missing = self.missing_events();
        if !events.has_readers || missing.iter().all(|kinds| kinds.is_empty()) {
            return Ok(());
        }
        let (scope, post) =
            EventScope::load_with_post(tx, self.thread, self.post, events.actor).await?;
        missing.into_iter().try_for_each(|kinds| scope.record(events, kinds, &post.post))
    }

    /// Records the missing events of a reply that was changed while its thread was hidden, before another change of the reply
    /// while the thread is visible again.
    pub async fn publish_earlier_changes(
        &mut self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
    ) -> BoardResult<()> {
        if !self.update_waits || !self.has_events_at_once() {
            return Ok(());
        }
        self.record_missing(tx, events).await?;
        tx.execute(MARK_SENT, bind![json(&[self.post])?]).await?;
        if let Some(changed) = Self::load(tx, self.post).await? {
            *self = changed;
        }
        Ok(())
    }

    /// Changes the state of the post and, for a first post, of its thread, and updates the counters. `on_profiles` is true if
    /// posts in the forum count on profiles.
    ///
    /// Records the events of all changes since the last event of the post. If this was the deletion, a post that becomes
    /// visible has the event of its restoration, also after an approval. `waiting_replies` records the events of the replies
    /// that were changed while their thread was hidden.
    pub async fn change_state(
        &mut self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
        to: ContentState,
        on_profiles: bool,
    ) -> BoardResult<()> {
        self.publish_earlier_changes(tx, events).await?;
        self.set_state(tx, to, events.now, on_profiles).await?;
        if self.has_events_at_once() {
            self.record_missing(tx, events).await?;
        }
        Ok(())
    }

    /// Changes the state of the post at the time `now`, and updates the counters. For a first post, also changes the state of
    /// its thread.
    async fn set_state(
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
                deleted_at = CASE WHEN :to = 'deleted' THEN CAST(:now AS BIGINT) END,
                published = published OR :sent AND :to = 'visible',
                withdrawn = CASE
                    WHEN :sent AND :to = 'visible' THEN FALSE WHEN :sent AND :to = 'deleted' THEN published ELSE withdrawn
                END,
                edit_waits = edit_waits AND NOT (:sent AND :to = 'visible'),
                update_waits = update_waits OR NOT :sent
            WHERE id = :post";
        let thread = "
            UPDATE thread SET
                state = :to, version = version + 1, update_waits = update_waits AND :to <> 'visible'
            WHERE id = :thread AND first_post_id = :post";
        let parameters = bind! {
            ":post": self.post, ":thread": self.thread, ":to": to.as_str(), ":now": now,
            ":sent": self.has_events_at_once(),
        };
        tx.execute_independent(&[post, thread], parameters).await?;
        self.count_state(tx, to, on_profiles).await
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

/// Marks that the missing events of replies were sent.
pub const MARK_SENT: &str = "
    UPDATE post SET
        update_waits = FALSE, published = published OR state = 'visible',
        withdrawn = CASE state WHEN 'visible' THEN FALSE WHEN 'deleted' THEN published ELSE withdrawn END,
        edit_waits = edit_waits AND state <> 'visible'
    WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))";

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
