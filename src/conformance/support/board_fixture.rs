//! What a host hands over: a way to an empty board, and to what the suite puts there.

use std::sync::Arc;

use async_trait::async_trait;

use super::Capability;
use crate::host::{Authorizer, Board, BoardError, BoxError, MemberCaller};
use crate::model::{ForumId, NewPost, NewThread, PostId, ThreadId, UserId};
use crate::runtime::{InlineRuntime, ManualClock, Runtime};
use crate::webhook::Event;

/// What setting the stage gives.
pub type FixtureResult<T> = Result<T, BoxError>;

/// A kind of board, to be held against the rules.
#[async_trait]
pub trait BoardFactory: Send + Sync {
    /// An empty board: no member, no forum. It goes by `clock`, unless the host [lacks](Self::lacks)
    /// [`Capability::SuiteClock`]. Each rule asks for a board of its own, and no two may share anything.
    ///
    /// # Errors
    /// When it cannot be made: the rule that asked for it fails.
    async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>>;

    /// What this kind of board lacks; nothing by default.
    fn unsupported(&self) -> &[Capability] {
        &[]
    }

    /// Where work that races with other work runs. By default the suite itself polls all of it in turn; an executor
    /// with several threads, such as [`TokioRuntime`](crate::runtime::TokioRuntime), finds more.
    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(InlineRuntime)
    }
}

/// A board, and what puts members, forums and content there behind the API's back.
///
/// Only three methods have to be written: what a [`Capability`] says the board lacks is never asked for, and the rest has a
/// default. What is missed says so by name. The flood limits must let a member post every minute; a board under test
/// does best without any.
#[async_trait]
pub trait BoardFixture: Send + Sync {
    /// The board, as it is given to [`ForumApi::builder`](crate::ForumApi::builder).
    fn board(&self) -> (Arc<dyn Authorizer>, Arc<dyn Board>);

    /// Adds a member of this name, which nobody has yet.
    async fn add_member(&self, name: &str, role: Role) -> FixtureResult<UserId>;

    /// Adds a forum, the last of its siblings.
    async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId>;

    /// Changes who sees a forum. For what has no [`Capability::HiddenForums`] it is never asked.
    async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
        missed("set_readers", (forum, readers))
    }

    /// Names a moderator of a forum, or takes that back.
    async fn set_moderator(
        &self,
        forum: &ForumId,
        member: &UserId,
        is_one: bool,
    ) -> FixtureResult<()> {
        missed("set_moderator", (forum, member, is_one))
    }

    /// Bans a member, or takes that back.
    async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
        missed("set_banned", (member, banned))
    }

    /// Takes the board offline, or online again.
    async fn set_offline(&self, offline: bool) -> FixtureResult<()> {
        missed("set_offline", offline)
    }

    /// Locks a thread, or unlocks it.
    async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
        missed("set_locked", (thread, locked))
    }

    /// Pins a thread, or takes that back.
    async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> FixtureResult<()> {
        missed("set_pinned", (thread, pinned))
    }

    /// Approves a post that awaits it; a thread's first post stands for the thread.
    async fn approve(&self, post: &PostId) -> FixtureResult<()> {
        missed("approve", post)
    }

    /// Restores a post that was deleted; a thread's first post stands for the thread.
    async fn restore(&self, post: &PostId) -> FixtureResult<()> {
        missed("restore", post)
    }

    /// Lets a member ignore another one.
    async fn ignore(&self, member: &UserId, ignored: &UserId) -> FixtureResult<()> {
        missed("ignore", (member, ignored))
    }

    /// Removes an account; what it wrote stays.
    async fn remove_account(&self, member: &UserId) -> FixtureResult<()> {
        missed("remove_account", member)
    }

    /// Takes what the board put into its outbox since this was last asked, in the order in which it was put there.
    async fn events(&self) -> FixtureResult<Vec<Event>> {
        missed("events", ())
    }

    /// Writes a thread. By default with the board's own command; a board that lacks it puts the rows there.
    async fn write_thread(
        &self,
        author: &UserId,
        forum: &ForumId,
        new: NewThread,
    ) -> FixtureResult<(ThreadId, PostId)> {
        let (authority, board) = self.board();
        let author = acting(&*authority, author).await?;
        let thread = board.create_thread(&author, forum.clone(), new).await;
        let thread = thread.map_err(refused)?;
        Ok((thread.thread_id, thread.first_post_id))
    }

    /// Writes a reply. By default with the board's own command; a board that lacks it puts the rows there.
    async fn write_reply(
        &self,
        author: &UserId,
        thread: &ThreadId,
        new: NewPost,
    ) -> FixtureResult<PostId> {
        let (authority, board) = self.board();
        let author = acting(&*authority, author).await?;
        let post = board.create_post(&author, thread.clone(), new).await;
        Ok(post.map_err(refused)?.value.post_id)
    }
}

/// What a member is on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An ordinary member.
    Member,
    /// A member whose posts await approval.
    Newcomer,
    /// A member who sees what only staff sees, and moderates nothing by that alone.
    Staff,
    /// A member who sees and moderates everything.
    Administrator,
}

/// Who may do something in a forum. Each includes those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody; of what only members do, every member.
    Guests,
    /// Every member.
    Members,
    /// Staff and administrators.
    Staff,
}

/// A forum to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewForum {
    /// Its title.
    pub title: String,
    /// The forum above.
    pub parent: Option<ForumId>,
    /// Who sees it, whoever sees the one above.
    pub readers: Audience,
    /// Who starts threads and replies, as far as they see it.
    pub writers: Audience,
}

impl NewForum {
    /// A forum at the top.
    pub fn new(title: &str, readers: Audience, writers: Audience) -> Self {
        Self {
            title: title.into(),
            parent: None,
            readers,
            writers,
        }
    }
}

/// A member with the standing of now.
async fn acting(authority: &dyn Authorizer, member: &UserId) -> FixtureResult<MemberCaller> {
    let standing = authority.member_access(member).await?;
    let standing = standing.ok_or_else(|| format!("{member:?} can no longer act"))?;
    Ok(MemberCaller::new(member.clone(), standing))
}

fn missed<T>(method: &str, arguments: impl std::fmt::Debug) -> FixtureResult<T> {
    Err(format!("the host has no `Stage::{method}` for {arguments:?}").into())
}

fn refused(refusal: BoardError) -> BoxError {
    format!("the board refused to be filled: {refusal:?}").into()
}
