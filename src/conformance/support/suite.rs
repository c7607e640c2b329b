//! One board under test, and what its rules are tried with.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::concurrency::race;
use super::sanitizing::{reply, start};
use super::{Audience, Host, NewForum, Part, Role, Someone, Stage, Stop, Verdict};
use crate::api::Settings;
use crate::host::{Authority, Board, Standing};
use crate::model::{ForumId, PostAt, PostId, Reply, StartThread, ThreadId, Timestamp, UserId};
use crate::runtime::{Clock, ManualClock, Runtime};
use crate::store::Stores;
use crate::test_util::TestBoard;

/// How much later each post is than what was before.
const MINUTE: Duration = Duration::from_secs(60);

/// An empty board of the host's, and the hands that fill it. A case gets one of its own.
///
/// What is asked for of a [`Part`] that the host lacks ends the case: it is skipped.
pub struct Suite {
    /// Changes the board behind the API's back.
    pub stage: Box<dyn Stage>,
    pub(crate) ground: Arc<Ground>,
    runtime: Arc<dyn Runtime>,
    made: AtomicU32,
}

/// What everybody on a board stands on.
pub(crate) struct Ground {
    pub(crate) authority: Arc<dyn Authority>,
    pub(crate) board: Arc<dyn Board>,
    pub(crate) clock: Arc<ManualClock>,
    lacks: Vec<Part>,
}

impl Ground {
    pub(crate) fn needs(&self, part: Part) -> Verdict {
        match self.lacks.contains(&part) {
            true => Err(Stop::Lacks(part)),
            false => Ok(()),
        }
    }
}

/// A thread that was written, with its first post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The thread.
    pub thread: ThreadId,
    /// Its first post.
    pub first: PostId,
}

impl Written {
    /// Where its first post is.
    pub(crate) fn at(self) -> PostAt {
        PostAt {
            thread: self.thread,
            post: self.first,
        }
    }
}

impl Suite {
    /// An empty board of `host`'s, whose clock stands at 2026-01-01T00:00:00Z.
    ///
    /// # Errors
    /// When the host cannot make one.
    pub async fn new(host: &dyn Host) -> Verdict<Self> {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_767_225_600_000)));
        let stage = host.empty(Arc::clone(&clock)).await?;
        let (authority, board) = stage.board();
        let lacks = host.lacks().to_vec();
        Ok(Self {
            stage,
            ground: Arc::new(Ground {
                authority,
                board,
                clock,
                lacks,
            }),
            runtime: host.runtime(),
            made: AtomicU32::new(0),
        })
    }

    /// Ends the case where the host lacks `part`.
    ///
    /// # Errors
    /// [`Stop::Lacks`].
    pub fn needs(&self, part: Part) -> Verdict {
        self.ground.needs(part)
    }

    /// Lets time go by.
    pub fn wait(&self, duration: Duration) {
        self.ground.clock.advance(duration);
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        self.ground.clock.now()
    }

    /// Runs all of `works` at once, and gives what came of each, in no order.
    pub async fn race<T: Send + 'static>(
        &self,
        works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
    ) -> Vec<T> {
        race(&*self.runtime, works).await
    }

    /// The board behind the API.
    pub fn api(&self) -> TestBoard {
        let Ground {
            authority,
            board,
            clock,
            ..
        } = &*self.ground;
        let (authority, board) = (Arc::clone(authority), Arc::clone(board));
        let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(clock);
        let settings = Settings::default();
        TestBoard::with(
            authority,
            board,
            Stores::in_memory(),
            settings,
            |environment| environment.clock(clock),
        )
    }

    /// The guest.
    ///
    /// # Errors
    /// When the host lacks [`Part::Guests`].
    pub fn guest(&self) -> Verdict<Someone> {
        self.needs(Part::Guests)?;
        Ok(self.someone("the guest", None))
    }

    /// A new ordinary member.
    ///
    /// # Errors
    /// When the host cannot add one.
    pub async fn member(&self, name: &str) -> Verdict<Someone> {
        self.join(name, Role::Member).await
    }

    /// A new member whose posts await approval.
    ///
    /// # Errors
    /// When the host lacks [`Part::Approval`], or cannot add one.
    pub async fn newcomer(&self, name: &str) -> Verdict<Someone> {
        self.needs(Part::Approval)?;
        self.join(name, Role::Newcomer).await
    }

    /// A new member of this role.
    ///
    /// # Errors
    /// When the host cannot add one.
    pub async fn join(&self, name: &str, role: Role) -> Verdict<Someone> {
        let user = self.stage.add_member(name, role).await?;
        Ok(self.someone(name, Some(user)))
    }

    /// A new member who moderates `forum`, and nothing else.
    ///
    /// # Errors
    /// When the host lacks [`Part::Moderators`], or cannot add one.
    pub async fn moderator(&self, name: &str, forum: &ForumId) -> Verdict<Someone> {
        self.needs(Part::Moderators)?;
        let moderator = self.join(name, Role::Staff).await?;
        self.stage
            .set_moderator(forum, &moderator.id(), true)
            .await?;
        Ok(moderator)
    }

    /// What the board lets the member with this id see now.
    ///
    /// # Errors
    /// When the backend fails.
    pub async fn standing_of(&self, member: &UserId) -> Verdict<Option<Standing>> {
        Ok(self.ground.authority.member(member).await?)
    }

    fn someone(&self, name: &str, user: Option<UserId>) -> Someone {
        Someone {
            ground: Arc::clone(&self.ground),
            name: name.into(),
            user,
            held: None,
        }
    }

    /// A new top forum that these see, and in which every member among them writes.
    ///
    /// # Errors
    /// When the host lacks [`Part::HiddenForums`] and would have to hide it, or cannot add it.
    pub async fn forum(&self, readers: Audience) -> Verdict<ForumId> {
        self.forum_of(None, readers, Audience::Guests).await
    }

    /// A new forum below `parent`.
    ///
    /// # Errors
    /// When the host lacks [`Part::SubForums`], or [`Part::HiddenForums`] and would have to hide it, or cannot add it.
    pub async fn sub_forum(&self, parent: &ForumId, readers: Audience) -> Verdict<ForumId> {
        self.needs(Part::SubForums)?;
        self.forum_of(Some(parent), readers, Audience::Guests).await
    }

    /// A new forum that these see, and in which those write.
    ///
    /// # Errors
    /// When the host lacks [`Part::HiddenForums`] and would have to hide it, or [`Part::ReadOnlyForums`] and would have
    /// to keep somebody from writing there, or cannot add it.
    pub async fn forum_of(
        &self,
        parent: Option<&ForumId>,
        readers: Audience,
        writers: Audience,
    ) -> Verdict<ForumId> {
        if readers != Audience::Guests {
            self.needs(Part::HiddenForums)?;
        }
        if writers != Audience::Guests {
            self.needs(Part::ReadOnlyForums)?;
        }
        let new = NewForum {
            title: self.text("Forum"),
            parent: parent.cloned(),
            readers,
            writers,
        };
        Ok(self.stage.add_forum(&new).await?)
    }

    /// A new forum that everybody sees, and a new member, alice.
    ///
    /// # Errors
    /// When the host cannot add them.
    pub async fn forum_and_member(&self) -> Verdict<(ForumId, Someone)> {
        Ok((
            self.forum(Audience::Guests).await?,
            self.member("alice").await?,
        ))
    }

    /// A new thread by `author`, a minute after what was before.
    ///
    /// # Errors
    /// When the host cannot write it.
    pub async fn thread(&self, author: &Someone, forum: &ForumId) -> Verdict<Written> {
        self.needs(Part::Threads)?;
        let new = start(&self.text("Thread"), &self.text("Words about"));
        self.write_thread(author, forum, new).await
    }

    pub(crate) async fn write_thread(
        &self,
        author: &Someone,
        forum: &ForumId,
        new: StartThread,
    ) -> Verdict<Written> {
        self.wait(MINUTE);
        let (thread, first) = self.stage.write_thread(&author.id(), forum, new).await?;
        Ok(Written { thread, first })
    }

    /// A new reply by `author`, a minute after what was before.
    ///
    /// # Errors
    /// When the host cannot write it.
    pub async fn post(&self, author: &Someone, thread: &ThreadId) -> Verdict<PostId> {
        self.needs(Part::Posts)?;
        let new = reply(&self.text("An answer"));
        self.write_reply(author, thread, new).await
    }

    pub(crate) async fn write_reply(
        &self,
        author: &Someone,
        thread: &ThreadId,
        new: Reply,
    ) -> Verdict<PostId> {
        self.wait(MINUTE);
        Ok(self.stage.write_reply(&author.id(), thread, new).await?)
    }

    /// A text that this board has not seen yet.
    pub fn text(&self, word: &str) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        format!("{word} {number}")
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field("lacks", &self.ground.lacks)
            .finish_non_exhaustive()
    }
}
