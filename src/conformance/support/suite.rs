//! One board under test, and what its rules are tried with.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::concurrency::race;
use super::{
    Audience, BoardFactory, BoardFixture, CallResult, Capability, ForumScoped, NewForum, Role,
    TestCaller, TestFailure, TestResult, only, reply, start,
};
use crate::api::ApiSettings;
use crate::host::{Access, Authorizer, Board, BoardError, BoardResult};
use crate::model::*;
use crate::runtime::{Clock, ManualClock, Runtime};
use crate::store::Stores;
use crate::test_util::TestApi;

/// How much later each post is than everything before.
const MINUTE: Duration = Duration::from_secs(60);

/// An empty board of the host's, and what fills it. Each rule gets its own.
///
/// A method that needs a [`Capability`] that the host lacks ends the rule with [`TestFailure::Unsupported`].
pub struct Suite {
    /// Changes the board behind the API's back.
    pub fixture: Box<dyn BoardFixture>,
    inner: Arc<SuiteInner>,
    runtime: Arc<dyn Runtime>,
    texts: AtomicU32,
}

pub(crate) struct SuiteInner {
    pub(crate) authority: Arc<dyn Authorizer>,
    pub(crate) board: Arc<dyn Board>,
    pub(crate) clock: Arc<ManualClock>,
    unsupported: Vec<Capability>,
}

impl SuiteInner {
    fn require(&self, part: Capability) -> TestResult {
        match self.unsupported.contains(&part) {
            true => Err(TestFailure::Unsupported(part)),
            false => Ok(()),
        }
    }

    /// Refuses results that break every rule: a failure, a call of an unwritten method that the host does not name as
    /// unsupported, and anything in a forum that the caller does not see, which the library would drop.
    pub(crate) fn checked<T: ForumScoped + fmt::Debug>(
        &self,
        call: &str,
        part: Capability,
        access: &Access,
        result: BoardResult<T>,
    ) -> TestResult<BoardResult<T>> {
        let expected = match &result {
            Err(BoardError::NotImplemented) => {
                self.require(part)?;
                "an implementation, or its capability in `BoardFactory::unsupported`".into()
            }
            Err(BoardError::Internal(_)) => "no internal error".into(),
            Err(_) => return Ok(result),
            Ok(reply) => {
                let mut forums = reply.forums().into_iter();
                match forums.find(|forum| !access.visible_forums().contains(forum)) {
                    None => return Ok(result),
                    Some(forum) => format!("nothing in forum {forum}, which the caller cannot see"),
                }
            }
        };
        let found = format_args!("{result:?}");
        Err(TestFailure::mismatch(call, found, expected))
    }
}

impl Suite {
    /// An empty board of `host`'s, at 2026-01-01T00:00:00Z.
    ///
    /// # Errors
    /// When the host cannot make one.
    pub async fn new(host: &dyn BoardFactory) -> TestResult<Self> {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let fixture = host.create(Arc::clone(&clock)).await?;
        let (authority, board) = fixture.board();
        let inner = SuiteInner {
            authority,
            board,
            clock,
            unsupported: host.unsupported().to_vec(),
        };
        Ok(Self {
            fixture,
            inner: Arc::new(inner),
            runtime: host.runtime(),
            texts: AtomicU32::new(0),
        })
    }

    /// Ends the rule if the host lacks `part`.
    ///
    /// # Errors
    /// [`TestFailure::Unsupported`].
    pub fn require(&self, part: Capability) -> TestResult {
        self.inner.require(part)
    }

    /// Advances the clock.
    pub fn advance(&self, duration: Duration) {
        self.inner.clock.advance(duration);
    }

    /// The present time.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Runs all `works` at once and returns their results, in no order.
    pub async fn race<T: Send + 'static>(
        &self,
        works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
    ) -> Vec<T> {
        race(&*self.runtime, works).await
    }

    /// Runs all `calls` at once: one succeeds, and the others are conflicts.
    pub(crate) async fn race_for_one<T: fmt::Debug + Send + 'static>(
        &self,
        calls: impl IntoIterator<Item = impl Future<Output = CallResult<T>> + Send + 'static>,
    ) -> TestResult<T> {
        let mut made = Vec::new();
        for result in self.race(calls).await {
            made.extend(result.expect_ok_or_conflict()?);
        }
        only(made)
    }

    /// The API over the board.
    pub fn api(&self) -> TestApi {
        let authority = Arc::clone(&self.inner.authority);
        let board = Arc::clone(&self.inner.board);
        let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&self.inner.clock);
        let (stores, settings) = (Stores::in_memory(), ApiSettings::default());
        TestApi::with(authority, board, stores, settings, |environment| {
            environment.clock(clock)
        })
    }

    /// The guest.
    ///
    /// # Errors
    /// When the host lacks [`Capability::Guests`].
    pub fn guest(&self) -> TestResult<TestCaller> {
        self.require(Capability::Guests)?;
        Ok(self.caller("the guest", None))
    }

    /// A new ordinary member.
    pub async fn member(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Member).await
    }

    /// New ordinary members.
    pub async fn members<const N: usize>(&self, names: [&str; N]) -> TestResult<[TestCaller; N]> {
        let mut members = names.map(|name| self.caller(name, None));
        for member in &mut members {
            *member = self.member(&member.name).await?;
        }
        Ok(members)
    }

    /// A member with the access from before they were banned, as if a request were under way. Needs [`Capability::Bans`].
    pub(crate) async fn banned_meanwhile(&self, member: &TestCaller) -> TestResult<TestCaller> {
        self.require(Capability::Bans)?;
        let cached = member.cache_access().await?;
        self.fixture.set_banned(&member.id(), true).await?;
        Ok(cached)
    }

    /// A new member whose posts await approval. Needs [`Capability::Approval`].
    pub async fn newcomer(&self, name: &str) -> TestResult<TestCaller> {
        self.require(Capability::Approval)?;
        self.add_member(name, Role::Newcomer).await
    }

    /// A new member who sees what staff sees.
    pub async fn staff(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Staff).await
    }

    /// A new administrator.
    pub async fn admin(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Administrator).await
    }

    /// A new member of this role.
    pub async fn add_member(&self, name: &str, role: Role) -> TestResult<TestCaller> {
        let user = self.fixture.add_member(name, role).await?;
        Ok(self.caller(name, Some(user)))
    }

    /// A new member who moderates only `forum`. Needs [`Capability::Moderators`].
    pub async fn moderator(&self, name: &str, forum: &ForumId) -> TestResult<TestCaller> {
        self.require(Capability::Moderators)?;
        let moderator = self.staff(name).await?;
        let id = moderator.id();
        self.fixture.set_moderator(forum, &id, true).await?;
        Ok(moderator)
    }

    /// The present access of the member with this id.
    pub async fn access_of(&self, member: &UserId) -> TestResult<Option<Access>> {
        Ok(self.inner.authority.member_access(member).await?)
    }

    fn caller(&self, name: &str, user: Option<UserId>) -> TestCaller {
        TestCaller {
            inner: Arc::clone(&self.inner),
            name: name.into(),
            user,
            cached: None,
        }
    }

    /// A new top forum that these see, and in which every member among them writes. Needs [`Capability::HiddenForums`] unless
    /// all callers see it.
    pub async fn forum(&self, readers: Audience) -> TestResult<ForumId> {
        self.containing_forum(None, readers, Audience::Guests).await
    }

    /// A new forum below `parent`. Needs [`Capability::SubForums`], and the same as [`forum`](Self::forum).
    pub async fn sub_forum(&self, parent: &ForumId, readers: Audience) -> TestResult<ForumId> {
        self.require(Capability::SubForums)?;
        self.containing_forum(Some(parent), readers, Audience::Guests)
            .await
    }

    /// A new forum that these see, and in which those write. Needs [`Capability::HiddenForums`] unless all callers see it, and
    /// [`Capability::ReadOnlyForums`] unless all members who see it write there.
    pub async fn containing_forum(
        &self,
        parent: Option<&ForumId>,
        readers: Audience,
        writers: Audience,
    ) -> TestResult<ForumId> {
        if readers != Audience::Guests {
            self.require(Capability::HiddenForums)?;
        }
        if writers != Audience::Guests {
            self.require(Capability::ReadOnlyForums)?;
        }
        let mut new = NewForum::new(&self.text("Forum"), readers, writers);
        new.parent = parent.cloned();
        Ok(self.fixture.add_forum(&new).await?)
    }

    /// A new forum that everyone sees, and a new member, alice.
    pub async fn forum_and_member(&self) -> TestResult<(ForumId, TestCaller)> {
        let forum = self.forum(Audience::Guests).await?;
        Ok((forum, self.member("alice").await?))
    }

    pub(crate) async fn forums<const N: usize>(&self) -> TestResult<[ForumId; N]> {
        let mut forums = std::array::from_fn(|_| ForumId::empty());
        for forum in &mut forums {
            *forum = self.forum(Audience::Guests).await?;
        }
        Ok(forums)
    }

    /// The first post of a new thread by `author`, a minute after everything before. Needs [`Capability::Threads`].
    pub async fn thread(&self, author: &TestCaller, forum: &ForumId) -> TestResult<PostPath> {
        self.require(Capability::Threads)?;
        let (title, body) = (self.text("Thread"), self.text("Words about"));
        self.write_thread(author, forum, &title, &body).await
    }

    pub(crate) async fn write_thread(
        &self,
        author: &TestCaller,
        forum: &ForumId,
        title: &str,
        body: &str,
    ) -> TestResult<PostPath> {
        self.advance(MINUTE);
        let new = start(title, body);
        let (thread, post) = self.fixture.write_thread(&author.id(), forum, new).await?;
        Ok(PostPath {
            thread_id: thread,
            post_id: post,
        })
    }

    /// A new reply by `author`, a minute after everything before. Needs [`Capability::Posts`].
    pub async fn post(&self, author: &TestCaller, thread: &ThreadId) -> TestResult<PostPath> {
        self.require(Capability::Posts)?;
        let body = self.text("An answer");
        self.write_reply(author, thread, &body).await
    }

    pub(crate) async fn write_reply(
        &self,
        author: &TestCaller,
        thread: &ThreadId,
        body: &str,
    ) -> TestResult<PostPath> {
        self.advance(MINUTE);
        let (author, thread) = (author.id(), thread.clone());
        let post = self
            .fixture
            .write_reply(&author, &thread, reply(body))
            .await?;
        Ok(PostPath {
            thread_id: thread,
            post_id: post,
        })
    }

    /// A text that this board does not have yet.
    pub fn text(&self, word: &str) -> String {
        let number = self.texts.fetch_add(1, Ordering::Relaxed);
        format!("{word} {number}")
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field("unsupported", &self.inner.unsupported)
            .finish_non_exhaustive()
    }
}
