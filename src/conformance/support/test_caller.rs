//! Callers of the board under test. They call the board as the library does.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use self::Admission::{Denied, Granted, NotCalled};
use super::{CallResult, Capability, ForumScoped, TestFailure, TestResult};
use crate::host::{
    Access, Authorizer, Board, BoardError, BoardResult, Caller, CreateOutcome, InForum,
    MemberCaller, RequestEvents, RequestId, RequestInfo, ResourceRef,
};
use crate::lock::lock;
use crate::model::*;
use crate::runtime::{BoxFuture, Clock as _, ManualClock};

/// A caller of the board under test: the guest or a member.
///
/// Each method of [`Board`] is a method here, so that a rule consists of calls with their expected outcomes:
/// `alice.get_thread(&id).await.expect_path_not_found()?`. As in the library, each call looks up the caller's access
/// first.
/// Independently of the expected outcome, the rule fails if the board returns an internal error or content of a forum
/// that the caller cannot see. A call that the host does not support skips the rule.
#[derive(Clone)]
pub(crate) struct TestCaller {
    pub(crate) inner: Arc<SuiteInner>,
    pub(crate) name: String,
    /// `None` for the guest.
    pub(crate) user: Option<UserId>,
    /// Replaces the current access.
    pub(crate) cached: Option<Access>,
}

/// The part of a suite that its callers share.
pub(crate) struct SuiteInner {
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) board: Arc<dyn Board>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) unsupported: Vec<Capability>,
    /// Ids of operations that the API does not have.
    pub(crate) omitted_operations: Vec<String>,
    /// The text of the last call.
    pub(crate) last_call: Mutex<String>,
    /// The methods that were called and that the host supports.
    pub(crate) methods: Mutex<BTreeSet<&'static str>>,
}

impl SuiteInner {
    pub(crate) fn require(&self, capability: Capability) -> TestResult {
        if self.unsupported.contains(&capability) {
            Err(TestFailure::Unsupported(capability))
        } else {
            Ok(())
        }
    }

    /// Skips the rule if the host does not support `capability`, or if the API does not have `operation`. The name of the
    /// operation is its id or the name of its method.
    pub(crate) fn require_operation(&self, operation: &str, capability: Capability) -> TestResult {
        // Each board has these methods. `check_result` finds a board without them.
        if ["list_forums", "containing_forum"].contains(&operation) {
            return Ok(());
        }
        let id = operation.replace('_', "");
        let mut omitted = self.omitted_operations.iter();
        if omitted.any(|omitted| omitted.eq_ignore_ascii_case(&id)) {
            Err(TestFailure::Unsupported(capability))
        } else {
            self.require(capability)
        }
    }

    /// Rejects results that no rule permits: an internal error, a call without an implementation that the host does
    /// not list as unsupported, and content of a forum that the caller cannot see.
    fn check_result<T: ForumScoped + Debug>(
        &self,
        call: &str,
        capability: Capability,
        access: &Access,
        mut result: BoardResult<T>,
    ) -> TestResult<BoardResult<T>> {
        let is_hidden = |forum: &&&ForumId| !access.visible_forums().contains(forum);
        let expected = match &result {
            Err(BoardError::NotImplemented) => {
                self.require(capability)?;
                "an implementation, or its capability in `BoardFactory::unsupported`".into()
            }
            Err(BoardError::Internal(_)) => "no internal error".into(),
            Err(_) => return Ok(result),
            Ok(value) => match value.forums().iter().find(is_hidden) {
                None => {
                    result.iter_mut().for_each(T::redact);
                    return Ok(result);
                }
                Some(forum) => format!("nothing in forum {forum}, which the caller cannot see"),
            },
        };
        Err(TestFailure::mismatch(call, format!("{result:?}"), expected))
    }
}

/// The outcome of the library's visibility check before a call.
enum Admission {
    Granted,
    /// The library rejects the call. The board has to reject it as well: it checks again in its own transaction.
    Denied(BoardError),
    /// The library rejects the call itself. The board is not called, because it need not check the visibility of this
    /// forum.
    NotCalled,
}

macro_rules! calls {
    ($(
        $kind:ident $name:ident($($argument:ident: $type:ty),* ) $(of $resource:expr)? => $reply:ty, $capability:ident;
    )+) => {
        /// The methods of [`Board`].
        pub(crate) const METHODS: &[&str] = &[$(stringify!($name)),+];

        impl TestCaller {$(
            #[doc = concat!("Calls [`Board::", stringify!($name), "`].")]
            #[doc = concat!("Needs [`Capability::", stringify!($capability), "`].")]
            pub(crate) async fn $name(&self, $($argument: &$type),*) -> CallResult<$reply> {
                let arguments: &[String] = &[$(format!("{:?}", $argument)),*];
                let call = format!("{}({}) as {}", stringify!($name), arguments.join(", "), self.name);
                lock(&self.inner.last_call).clone_from(&call);
                let result = async {
                    self.inner.require_operation(stringify!($name), Capability::$capability)?;
                    let (caller, admission) = self.$kind($($resource)?).await?;
                    let result = self.inner.board.$name(&caller, $($argument.clone().into()),*);
                    let result = admission.check(&call, result).await?;
                    self.inner.check_result(&call, Capability::$capability, caller.access(), result)
                };
                let result = result.await;
                if result.is_ok() {
                    lock(&self.inner.methods).insert(stringify!($name));
                }
                CallResult { call, result }
            }
        )+}
    };
}

calls! {
    read list_forums() => Page<Forum>, Guests;
    read_forum list_threads(forum: ForumId, params: List<ThreadFilter>) of forum => Page<Thread>, Threads;
    read get_thread(thread: ThreadId) => Thread, Threads;
    read list_posts(thread: ThreadId, params: List<PostFilter>) => InForum<Page<Post>>, Posts;
    read get_member(user: UserRef) => Member, Profiles;
    read get_poll(thread: ThreadId) => InForum<Poll>, Polls;
    read search(params: List<SearchFilter>) => Page<SearchHit>, Search;
    read containing_forum(resource: ResourceRef<'_>) => ForumId, Replies;

    read_own get_me() => OwnAccount, Account;
    read_own list_messages(params: List<MessageFilter>) => Page<MessageSummary>, Messages;
    read_own open_message(message: MessageId, mark_read: MarkRead) => Message, Messages;
    read_own list_subscriptions(params: List<SubscriptionFilter>) => Page<Subscription>, Subscriptions;

    write create_thread(forum: ForumId, new: NewThread) of ResourceRef::Forum(forum) => Thread, StartingThreads;
    write create_post(thread: ThreadId, new: NewPost) of ResourceRef::Thread(thread) => InForum<Post>, Replies;
    write update_post(path: PostPath, update: PostUpdate) of post(path) => InForum<Post>, Editing;
    write delete_post(path: PostPath) of post(path) => (), Deletion;
    write rate_member(user: UserRef, new: NewRating) of ResourceRef::Global => Rating, Reputation;
    write send_message(new: NewMessage) of ResourceRef::Global => Message, Messages;
    write vote(poll: PollId, new: NewVote) of ResourceRef::Poll(poll) => InForum<Poll>, Polls;
    write update_poll(poll: PollId, update: PollUpdate) of ResourceRef::Poll(poll) => InForum<Poll>, Polls;
    write subscribe(target: SubscriptionTarget) of ResourceRef::Global => CreateOutcome<Subscription>, Subscriptions;
    write unsubscribe(target: SubscriptionTarget) of ResourceRef::Global => (), Subscriptions;
}

impl TestCaller {
    async fn read(&self) -> TestResult<(Caller, Admission)> {
        Ok((self.caller().await?, Granted))
    }

    async fn read_forum(&self, forum: &ForumId) -> TestResult<(Caller, Admission)> {
        let caller = self.caller().await?;
        let is_visible = caller.access().visible_forums().contains(forum);
        let admission = if is_visible { Granted } else { NotCalled };
        Ok((caller, admission))
    }

    async fn read_own(&self) -> TestResult<(MemberCaller, Admission)> {
        Ok((self.member().await?, Granted))
    }

    /// Advances the clock by a minute, so that no rule exceeds an anti-flood limit by accident.
    async fn write(&self, resource: ResourceRef<'_>) -> TestResult<(MemberCaller, Admission)> {
        self.inner.clock.advance(Duration::from_secs(60));
        let member = self.member().await?;
        let forum = match resource {
            ResourceRef::Global => return Ok((member, Granted)),
            ResourceRef::Forum(forum) => Ok(forum.clone()),
            _ => {
                let caller = Caller::Member(member.clone());
                self.inner.board.containing_forum(&caller, resource).await
            }
        };
        let admission = match forum {
            Ok(forum) if member.access().visible_forums().contains(&forum) => Granted,
            Ok(_) => Denied(BoardError::PathNotFound),
            Err(error) => Denied(error),
        };
        Ok((member, admission))
    }

    /// Returns the name, which is "the guest" for the guest.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id. The id of the guest is empty, and no resource has it.
    pub(crate) fn id(&self) -> UserId {
        self.user.clone().unwrap_or_else(UserId::empty)
    }

    /// Returns a reference to the member by id.
    pub(crate) fn id_ref(&self) -> UserRef {
        UserRef::Id(self.id())
    }

    /// Returns a reference to the member by name.
    pub(crate) fn name_ref(&self) -> UserRef {
        UserRef::Name(self.name.clone())
    }

    /// Returns the current access; `None` if the account is banned or removed.
    pub(crate) async fn access(&self) -> TestResult<Option<Access>> {
        let authorizer = &self.inner.authorizer;
        let request = self.request();
        Ok(match (&self.cached, &self.user) {
            (Some(cached), _) => Some(cached.clone()),
            (None, Some(user)) => authorizer.member_access(user, &request).await?,
            (None, None) => Some(authorizer.guest_access(&request).await?),
        })
    }

    /// Returns a copy of the caller that keeps the current access for all its calls, as a request in progress does.
    pub(crate) async fn cache_access(&self) -> TestResult<Self> {
        let mut copy = self.clone();
        copy.cached = Some(self.caller().await?.access().clone());
        Ok(copy)
    }

    /// Id of each request of the suite.
    pub(crate) const REQUEST_ID: RequestId = RequestId(*b"019bc2d1b7a05f0ce6a4d8e1f3927b64");

    fn request(&self) -> RequestInfo {
        let request = RequestInfo::new(self.inner.clock.now());
        request.with_request_id(Self::REQUEST_ID, RequestEvents::default())
    }

    async fn caller(&self) -> TestResult<Caller> {
        let no_access = || TestFailure::mismatch(&self.name, "no access", "access");
        let access = self.access().await?.ok_or_else(no_access)?;
        Ok(match &self.user {
            Some(user) => MemberCaller::new(user.clone(), access, self.request()).into(),
            None => Caller::guest(access, self.request()),
        })
    }

    async fn member(&self) -> TestResult<MemberCaller> {
        match self.caller().await? {
            Caller::Member(member) => Ok(member),
            Caller::Guest { .. } => Err(TestFailure::mismatch(&self.name, "a guest", "a member")),
        }
    }
}

impl Debug for TestCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn post(path: &PostPath) -> ResourceRef<'_> {
    ResourceRef::Post(&path.thread_id, &path.post_id)
}

impl Admission {
    /// Returns the result of the library for this result of the board.
    async fn check<T: Debug>(
        self,
        call: &str,
        result: BoxFuture<'_, BoardResult<T>>,
    ) -> TestResult<BoardResult<T>> {
        let denial = match self {
            Granted => return Ok(result.await),
            NotCalled => return Ok(Err(BoardError::PathNotFound)),
            Denied(denial) => denial,
        };
        match (denial, result.await) {
            (BoardError::PathNotFound, Ok(value)) => Err(TestFailure::mismatch(
                call,
                format!("{value:?}"),
                "BoardError::PathNotFound, because the caller cannot see the resource",
            )),
            (BoardError::NotImplemented, Ok(_)) => Err(TestFailure::mismatch(
                call,
                "`NotImplemented` from `Board::containing_forum` for this resource",
                "its forum: the library calls it before each write",
            )),
            (denial, Ok(_) | Err(BoardError::PathNotFound)) => Ok(Err(denial)),
            (_, error) => Ok(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::METHODS_WITH_ENDPOINT;

    #[test]
    fn each_method_of_a_board_has_a_call() {
        let mut methods = BTreeSet::from(METHODS_WITH_ENDPOINT);
        // The other method of `Board` without an endpoint, `exists`, is called by rules over HTTP.
        methods.insert("containing_forum");
        assert_eq!(BTreeSet::from_iter(METHODS.iter().copied()), methods);
    }
}
