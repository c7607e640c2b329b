//! Host traits that create and fill a board under test.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::Capability;
use crate::host::{Authorizer, BoxError, Host, MemberCaller, RequestInfo};
use crate::model::{ForumId, NewPost, NewThread, PostId, ThreadId, UserId};
use crate::operation::Operation;
use crate::runtime::{Clock as _, ManualClock, SystemClock};
use crate::store::{FanOut, Stores, WebhookStores};
use crate::webhook::Event;

/// The result of a step that prepares a board or a store.
pub type FixtureResult<T> = Result<T, BoxError>;

/// Creates boards of one kind.
#[async_trait]
pub trait BoardFactory: Send + Sync {
    /// Creates a board without members and forums. Each rule creates its own board; boards share no state. The board
    /// uses `clock`, unless [`unsupported`](Self::unsupported) lists [`Capability::InjectedClock`].
    ///
    /// # Errors
    /// If the board cannot be created. The rule fails.
    async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>>;

    /// Returns the optional features that the board does not have. The suite skips the rules that need one of them, also
    /// if the board implements their methods. Empty by default.
    fn unsupported(&self) -> &[Capability] {
        &[]
    }

    /// Returns the ids that the host passes to
    /// [`Environment::omit_operations`](crate::Environment::omit_operations). The suite skips the rules that need one of
    /// these operations. Empty by default.
    fn omitted_operations(&self) -> &[&str] {
        &[]
    }

    /// Returns the names of the rules that the board breaks on purpose, each with the reason. The suite prints them instead
    /// of failing. A rule that is listed and passes fails. Empty by default.
    ///
    /// A difference that a [`Capability`] describes belongs in [`unsupported`](Self::unsupported).
    fn expected_differences(&self) -> &[(&str, &str)] {
        &[]
    }
}

/// A board under test, with methods that change it without the API.
///
/// A host implements [`board`](Self::board), [`add_member`](Self::add_member), [`add_forum`](Self::add_forum), and the
/// methods that the capabilities of its board need. The suite does not call the other methods. A method without an
/// implementation returns an error with its name, except `write_thread` and `write_reply`, which call the board. The
/// anti-flood limits of the board must permit one write per member and minute.
///
/// # Errors
/// Each method returns an error if its change cannot be made. The rule fails.
#[async_trait]
pub trait BoardFixture: Send + Sync {
    /// Returns the board, as [`ForumApi::builder`](crate::ForumApi::builder) takes it.
    fn board(&self) -> Host;

    /// Adds a member. No other member has this name.
    async fn add_member(&self, name: &str, role: Role) -> FixtureResult<UserId>;

    /// Adds a forum after its siblings.
    async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId>;

    /// Changes the audience that sees a forum. Needs [`Capability::HiddenForums`].
    async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
        unsupported_by_fixture("set_readers", (forum, readers))
    }

    /// Appoints or dismisses a moderator of a forum. Needs [`Capability::Moderators`].
    async fn set_moderator(
        &self,
        forum: &ForumId,
        member: &UserId,
        is_moderator: bool,
    ) -> FixtureResult<()> {
        unsupported_by_fixture("set_moderator", (forum, member, is_moderator))
    }

    /// Bans a member or lifts the ban. Needs [`Capability::Bans`].
    async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
        unsupported_by_fixture("set_banned", (member, banned))
    }

    /// Takes the board offline or online. Needs [`Capability::Offline`].
    async fn set_offline(&self, offline: bool) -> FixtureResult<()> {
        unsupported_by_fixture("set_offline", offline)
    }

    /// Locks or unlocks a thread as the board's moderation does, with the event. Needs [`Capability::Locking`].
    async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
        unsupported_by_fixture("set_locked", (thread, locked))
    }

    /// Pins or unpins a thread as the board's moderation does, with the event. Needs [`Capability::Pinning`].
    async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> FixtureResult<()> {
        unsupported_by_fixture("set_pinned", (thread, pinned))
    }

    /// Approves a post that awaits approval; a first post together with its thread. Needs [`Capability::Approval`].
    async fn approve(&self, post: &PostId) -> FixtureResult<()> {
        unsupported_by_fixture("approve", post)
    }

    /// Hides a reply as a moderator does on the board's own pages. Returns `false`, and changes nothing, on a board whose
    /// moderators only delete posts. Default: `false`.
    async fn hide(&self, _post: &PostId) -> FixtureResult<bool> {
        Ok(false)
    }

    /// Restores a deleted post; a first post together with its thread. Needs [`Capability::SoftDeletion`].
    async fn restore(&self, post: &PostId) -> FixtureResult<()> {
        unsupported_by_fixture("restore", post)
    }

    /// Makes `member` ignore another member. Needs [`Capability::IgnoreLists`].
    async fn ignore(&self, member: &UserId, ignored: &UserId) -> FixtureResult<()> {
        unsupported_by_fixture("ignore", (member, ignored))
    }

    /// Removes an account as the board does, with the event. Its posts and messages remain. Needs
    /// [`Capability::AccountRemoval`].
    async fn remove_account(&self, member: &UserId) -> FixtureResult<()> {
        unsupported_by_fixture("remove_account", member)
    }

    /// Returns the stores whose outbox contains the events of the board. The default implementation of
    /// [`events`](Self::events) reads them there. Default: `None`, with which `events` fails unless the fixture implements it.
    fn webhooks(&self) -> Option<WebhookStores> {
        None
    }

    /// Returns stores in the board's database, in which [`Authorizer::load_token`](crate::host::Authorizer::load_token) finds
    /// the tokens. Needs [`Capability::TokenLoading`].
    fn stores(&self) -> FixtureResult<Stores> {
        unsupported_by_fixture("stores", ())
    }

    /// Returns the operations that only this board has. Empty by default.
    ///
    /// The suite calls them as one member with the resources of another: for the path variables `forumId`, `threadId`,
    /// `postId`, `pollId` and `userId` it passes the ids of a forum, of a new thread of another member, its first post and
    /// its poll, and of this member. It passes `1` for other variables, no query parameters, and the example of the body. The
    /// call must succeed: [`prepare_operation`](Self::prepare_operation) can change what it needs.
    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    /// Prepares a call of the operation `id` by `caller`, for example by giving the caller a permission, or by adding the
    /// resource that a variable of the path names. `variables` are the values of the path, which the method can replace.
    /// Resources of the other member must stay in their forum. Changes nothing by default.
    async fn prepare_operation(
        &self,
        _id: &str,
        _caller: &UserId,
        _variables: &mut BTreeMap<&'static str, String>,
    ) -> FixtureResult<()> {
        Ok(())
    }

    /// Adds a thread that has no post yet to `forum`, on a board whose threads can be without a post. Default: `None`, for
    /// other boards.
    async fn add_thread_without_post(&self, _forum: &ForumId) -> FixtureResult<Option<ThreadId>> {
        Ok(None)
    }

    /// Returns the events that the board wrote since the previous call, in insertion order. By default, reads them from the
    /// outbox of [`webhooks`](Self::webhooks) and marks them as fanned out to no endpoint, which removes them.
    ///
    /// If the board writes events only while an endpoint is enabled, the factory adds an endpoint for `*` and
    /// `message.sent`.
    async fn events(&self) -> FixtureResult<Vec<Event>> {
        match self.webhooks() {
            Some(webhooks) => take_events(&webhooks).await,
            None => unsupported_by_fixture("events", ()),
        }
    }

    /// Writes a thread, by default with `create_thread`. A board without [`Capability::StartingThreads`] inserts the
    /// rows.
    async fn write_thread(
        &self,
        author: &UserId,
        forum: &ForumId,
        new: NewThread,
    ) -> FixtureResult<(ThreadId, PostId)> {
        let Host { authorizer, board } = self.board();
        let author = member_caller(&*authorizer, author).await?;
        let created = board.create_thread(&author, forum.clone(), new).await;
        let failed = |error| format!("create_thread in {forum:?} failed: {error:?}");
        let thread = created.map_err(failed)?;
        Ok((thread.thread_id, thread.first_post_id))
    }

    /// Writes a reply, by default with `create_post`. A board without [`Capability::Replies`] inserts the row.
    async fn write_reply(
        &self,
        author: &UserId,
        thread: &ThreadId,
        new: NewPost,
    ) -> FixtureResult<PostId> {
        let Host { authorizer, board } = self.board();
        let author = member_caller(&*authorizer, author).await?;
        let created = board.create_post(&author, thread.clone(), new).await;
        let failed = |error| format!("create_post in {thread:?} failed: {error:?}");
        let post = created.map_err(failed)?;
        Ok(post.value.post_id)
    }
}

/// The role of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An ordinary member.
    Member,
    /// A member whose posts await approval.
    Newcomer,
    /// A member who sees the forums of staff, and does not moderate.
    Staff,
    /// A member who sees and moderates all forums.
    Administrator,
}

/// The callers who may read or write in a forum. Each audience includes the following ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All callers; for writes, all members.
    Guests,
    /// All members.
    Members,
    /// Staff and administrators.
    Staff,
}

/// A forum that [`BoardFixture::add_forum`] adds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewForum {
    /// The title.
    pub title: String,
    /// Id of the parent forum; `None` for a top-level forum.
    pub parent_id: Option<ForumId>,
    /// The audience that sees the forum, independent of the audience of the parent.
    pub readers: Audience,
    /// The audience that can start threads and reply, if it can see the forum.
    pub writers: Audience,
}

impl NewForum {
    /// Creates a top-level forum.
    pub fn new(title: &str, readers: Audience, writers: Audience) -> Self {
        Self { title: title.into(), parent_id: None, readers, writers }
    }
}

async fn take_events(webhooks: &WebhookStores) -> FixtureResult<Vec<Event>> {
    let mut events = Vec::new();
    loop {
        let pending = webhooks.pending_events(1000).await?;
        let quarantine = webhooks.quarantined_events(1).await?;
        if let Some(event) = quarantine.latest.first() {
            let (id, reason) = (&event.id, &event.reason);
            return Err(format!("the event {id:?} cannot be decoded: {reason}").into());
        }
        let Some(last) = pending.last() else {
            return Ok(events);
        };
        let now = last.occurred_at;
        let no_endpoint = |event: &Event| FanOut {
            event_id: event.id.clone(),
            endpoint_ids: Vec::new(),
            stays_in_feed: false,
        };
        let removed: Vec<_> = pending.iter().map(no_endpoint).collect();
        webhooks.outbox.fan_out(&removed, now).await?;
        events.extend(pending);
    }
}

async fn member_caller(authorizer: &dyn Authorizer, id: &UserId) -> FixtureResult<MemberCaller> {
    let request = RequestInfo::new(SystemClock.now());
    let access = authorizer
        .member_access(id, &request)
        .await?
        .ok_or_else(|| format!("{id:?} has no access"))?;
    Ok(MemberCaller::new(id.clone(), access, request))
}

fn unsupported_by_fixture<T>(method: &str, arguments: impl std::fmt::Debug) -> FixtureResult<T> {
    Err(format!("`BoardFixture::{method}` is not implemented; called with {arguments:?}").into())
}
