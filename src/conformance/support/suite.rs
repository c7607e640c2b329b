//! The board under test of one rule.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::concurrency::run_concurrently;
use super::test_caller::SuiteInner;
use super::{
    Audience, BoardFactory, BoardFixture, CallResult, Capability, NewForum, Role, Subject,
    TestCaller, TestResult, new_post, new_thread, only,
};
use crate::api::ForumApiBuilder;
use crate::environment::Environment;
use crate::host::{Access, Host, RequestInfo};
use crate::lock::lock;
use crate::model::*;
use crate::operation::Operation;
use crate::runtime::{Clock, ManualClock};
use crate::scope::Scope;
use crate::store::Stores;
use crate::test_util::TestApi;

/// Time between two writes: anti-flood limits have to permit it.
const MINUTE: Duration = Duration::from_secs(60);

/// An empty board for one rule, with callers and content that the rule adds.
///
/// A method that needs an unsupported [`Capability`] returns [`TestFailure::Unsupported`](super::TestFailure), which
/// skips the rule.
pub(crate) struct Suite {
    /// Changes the board without the API.
    pub(crate) fixture: Box<dyn BoardFixture>,
    inner: Arc<SuiteInner>,
    /// See [`BoardFactory::expected_differences`].
    expected_differences: Vec<(String, String)>,
    texts: AtomicU32,
}

impl Suite {
    /// Creates an empty board, at 2026-01-01T00:00:00Z.
    ///
    /// # Errors
    /// If the host cannot create it.
    pub(crate) async fn new(factory: &dyn BoardFactory) -> TestResult<Self> {
        let expected_differences = factory.expected_differences();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let fixture = factory.create(Arc::clone(&clock)).await?;
        let Host { authorizer, board } = fixture.board();
        let unsupported = factory.unsupported().to_vec();
        let omitted = factory.omitted_operations().iter();
        let omitted_operations = omitted.map(|id| (*id).to_owned()).collect();
        Ok(Self {
            fixture,
            inner: Arc::new(SuiteInner {
                authorizer,
                board,
                clock,
                unsupported,
                omitted_operations,
                last_call: Mutex::default(),
                methods: Mutex::default(),
            }),
            expected_differences: expected_differences
                .iter()
                .map(|(rule, reason)| ((*rule).into(), (*reason).into()))
                .collect(),
            texts: AtomicU32::new(0),
        })
    }

    /// Skips the rule if the host does not support `capability`.
    ///
    /// # Errors
    /// [`TestFailure::Unsupported`](super::TestFailure::Unsupported).
    pub(crate) fn require(&self, capability: Capability) -> TestResult {
        self.inner.require(capability)
    }

    /// Skips the rule if the API does not have the operation with this id, or if the host does not support its capability.
    pub(crate) fn require_operation(&self, id: &str, capability: Capability) -> TestResult {
        self.inner.require_operation(id, capability)
    }

    /// Advances the clock.
    pub(crate) fn advance(&self, duration: Duration) {
        self.inner.clock.advance(duration);
    }

    /// Returns the time of the clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Runs `calls` concurrently. Expects that one of them succeeds and that the others return
    /// [`BoardError::Conflict`](crate::host::BoardError::Conflict). Needs [`Capability::AtomicCommands`].
    pub(crate) async fn race_for_one<T: fmt::Debug + Send + 'static>(
        &self,
        calls: impl IntoIterator<Item = impl Future<Output = CallResult<T>> + Send + 'static>,
    ) -> TestResult<T> {
        self.require(Capability::AtomicCommands)?;
        let mut succeeded = Vec::new();
        for result in run_concurrently(calls).await {
            succeeded.extend(result.expect_ok_or_conflict()?);
        }
        only(succeeded)
    }

    /// Returns the API over the board.
    pub(crate) fn api(&self) -> TestApi {
        self.api_with(&[])
    }

    /// Returns the API over the board with operations of the host.
    pub(crate) fn api_with(&self, operations: &[Operation]) -> TestApi {
        let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&self.inner.clock);
        let environment = |environment: Environment| {
            let omitted = &self.inner.omitted_operations;
            let environment = environment.clock(clock).omit_operations(omitted);
            let is_own = |scope: &Scope| !environment.scopes().contains(*scope);
            let scopes = operations.iter().flat_map(|operation| {
                let field_scope = operation.input().field_scope.map(|(_, scope)| scope);
                [Some(operation.spec.scope), field_scope]
            });
            let own_scopes: BTreeMap<_, _> =
                scopes.flatten().filter(is_own).map(|scope| (scope.as_str(), scope)).collect();
            own_scopes.into_values().fold(environment, Environment::scope)
        };
        let add_own = |api| operations.iter().cloned().fold(api, ForumApiBuilder::operation);
        let host = self.fixture.board();
        TestApi::with(host, Stores::in_memory(), environment, add_own)
    }

    /// Returns the guest. Needs [`Capability::Guests`].
    pub(crate) fn guest(&self) -> TestResult<TestCaller> {
        self.require(Capability::Guests)?;
        Ok(self.caller("the guest", None))
    }

    /// Adds an ordinary member.
    pub(crate) async fn member(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Member).await
    }

    /// Adds ordinary members.
    pub(crate) async fn members<const N: usize>(
        &self,
        names: [&str; N],
    ) -> TestResult<[TestCaller; N]> {
        let mut members = names.map(|name| self.caller(name, None));
        for member in &mut members {
            *member = self.member(&member.name).await?;
        }
        Ok(members)
    }

    /// Bans a member. The returned caller has the access from before the ban, as a request in progress has. Needs
    /// [`Capability::Bans`].
    pub(crate) async fn ban_during_request(&self, member: &TestCaller) -> TestResult<TestCaller> {
        self.require(Capability::Bans)?;
        let cached = member.cache_access().await?;
        self.fixture.set_banned(&member.id(), true).await?;
        Ok(cached)
    }

    /// Adds a member whose posts await approval. Needs [`Capability::Approval`].
    pub(crate) async fn newcomer(&self, name: &str) -> TestResult<TestCaller> {
        self.require(Capability::Approval)?;
        self.add_member(name, Role::Newcomer).await
    }

    /// Adds a member of staff.
    pub(crate) async fn staff(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Staff).await
    }

    /// Adds an administrator.
    pub(crate) async fn admin(&self, name: &str) -> TestResult<TestCaller> {
        self.add_member(name, Role::Administrator).await
    }

    /// Adds a member with this role.
    pub(crate) async fn add_member(&self, name: &str, role: Role) -> TestResult<TestCaller> {
        let user = self.fixture.add_member(name, role).await?;
        Ok(self.caller(name, Some(user)))
    }

    /// Adds a moderator of `forum`: a member of staff who moderates only this forum, or an administrator if
    /// [`Capability::Moderators`] is not supported.
    pub(crate) async fn moderator(&self, name: &str, forum: &ForumId) -> TestResult<TestCaller> {
        if self.require(Capability::Moderators).is_err() {
            return self.admin(name).await;
        }
        let moderator = self.staff(name).await?;
        let id = moderator.id();
        self.fixture.set_moderator(forum, &id, true).await?;
        Ok(moderator)
    }

    /// Returns the current access of the member with this id.
    pub(crate) async fn access_of(&self, member: &UserId) -> TestResult<Option<Access>> {
        let request = RequestInfo::new(self.now());
        Ok(self.inner.authorizer.member_access(member, &request).await?)
    }

    fn caller(&self, name: &str, user: Option<UserId>) -> TestCaller {
        TestCaller { inner: Arc::clone(&self.inner), name: name.into(), user, cached: None }
    }

    /// Adds a top-level forum. All members who can read it can write in it. Needs [`Capability::HiddenForums`] unless
    /// guests see it.
    pub(crate) async fn forum(&self, readers: Audience) -> TestResult<ForumId> {
        self.add_forum(None, readers, Audience::Guests).await
    }

    /// Adds a forum below `parent`. Needs [`Capability::SubForums`] and the capabilities that [`forum`](Self::forum)
    /// needs.
    pub(crate) async fn sub_forum(
        &self,
        parent: &ForumId,
        readers: Audience,
    ) -> TestResult<ForumId> {
        let parent = Some(parent);
        self.add_forum(parent, readers, Audience::Guests).await
    }

    /// Adds a forum. Needs [`Capability::SubForums`] for one with a parent, [`Capability::HiddenForums`] unless guests
    /// see it, [`Capability::MemberForums`] if all members see it and guests do not, and [`Capability::ReadOnlyForums`]
    /// unless `writers` is [`Audience::Guests`].
    pub(crate) async fn add_forum(
        &self,
        parent: Option<&ForumId>,
        readers: Audience,
        writers: Audience,
    ) -> TestResult<ForumId> {
        for (needed, capability) in [
            (parent.is_some(), Capability::SubForums),
            (readers != Audience::Guests, Capability::HiddenForums),
            (readers == Audience::Members, Capability::MemberForums),
            (writers != Audience::Guests, Capability::ReadOnlyForums),
        ] {
            if needed {
                self.require(capability)?;
            }
        }
        let mut new = NewForum::new(&self.text("Forum"), readers, writers);
        new.parent_id = parent.cloned();
        Ok(self.fixture.add_forum(&new).await?)
    }

    /// Adds a forum that all callers see, and the member alice.
    pub(crate) async fn forum_and_member(&self) -> TestResult<(ForumId, TestCaller)> {
        let forum = self.forum(Audience::Guests).await?;
        Ok((forum, self.member("alice").await?))
    }

    /// Adds a forum that only staff sees, sam of the staff, and the member alice.
    pub(crate) async fn staff_forum(&self) -> TestResult<(ForumId, TestCaller, TestCaller)> {
        let forum = self.forum(Audience::Staff).await?;
        let sam = self.staff("sam").await?;
        Ok((forum, sam, self.member("alice").await?))
    }

    /// Adds two forums that all callers see.
    pub(crate) async fn two_forums(&self) -> TestResult<[ForumId; 2]> {
        let first = self.forum(Audience::Guests).await?;
        Ok([first, self.forum(Audience::Guests).await?])
    }

    /// Writes a thread a minute after the previous write, and returns the path of its first post. Needs
    /// [`Capability::Threads`].
    pub(crate) async fn thread(
        &self,
        author: &TestCaller,
        forum: &ForumId,
    ) -> TestResult<PostPath> {
        self.require(Capability::Threads)?;
        let title = self.text("Thread");
        let body = self.text("Words about");
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
        let author = author.id();
        let new = new_thread(title, body);
        let (thread_id, post_id) = self.fixture.write_thread(&author, forum, new).await?;
        Ok(PostPath::new(thread_id, post_id))
    }

    /// Returns the state of a deleted reply for callers who are not moderators; `None` if they do not see the reply.
    pub(crate) fn deleted_state(&self) -> Option<ContentState> {
        let is_place = self.require(Capability::HiddenDeletedPosts).is_err();
        is_place.then_some(ContentState::Deleted)
    }

    /// Restores a deleted post; a first post together with its thread. Returns `false` without
    /// [`Capability::SoftDeletion`].
    pub(crate) async fn restore(&self, post: &PostId) -> TestResult<bool> {
        let can_restore = self.require(Capability::SoftDeletion).is_ok();
        if can_restore {
            self.fixture.restore(post).await?;
        }
        Ok(can_restore)
    }

    /// Writes a reply a minute after the previous write. Needs [`Capability::Posts`].
    pub(crate) async fn post(
        &self,
        author: &TestCaller,
        thread: &ThreadId,
    ) -> TestResult<PostPath> {
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
        let author = author.id();
        let new = new_post(body);
        let thread_id = thread.clone();
        let post_id = self.fixture.write_reply(&author, thread, new).await?;
        Ok(PostPath::new(thread_id, post_id))
    }

    /// Returns a text that the board does not contain yet.
    pub(crate) fn text(&self, word: &str) -> String {
        let number = self.texts.fetch_add(1, Ordering::Relaxed);
        format!("{word} {number}")
    }
}

impl Subject for Suite {
    fn expected_difference(&self, rule: &str) -> Option<&str> {
        let mut all = self.expected_differences.iter();
        let (_, reason) = all.find(|(name, _)| name == rule)?;
        Some(reason)
    }

    fn methods(&self) -> Vec<&'static str> {
        lock(&self.inner.methods).iter().copied().collect()
    }

    fn last_call(&self) -> Option<String> {
        Some(lock(&self.inner.last_call).clone()).filter(|call| !call.is_empty())
    }
}

debug_fields!(Suite, |it| unsupported: it.inner.unsupported);
