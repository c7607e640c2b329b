//! Callers of the board under test, and every call of the board in the way in which the library makes it.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use super::suite::SuiteInner;
use super::{CallResult, Capability, TestFailure, TestResult};
use crate::host::{Access, BoardError, BoardResult, Caller, InForum, MemberCaller, ResourceRef};
use crate::model::*;

/// A caller of the board under test: the guest, or a member.
///
/// Every call of the [`Board`](crate::host::Board) is a method here, so that a rule reads as a call and the expected
/// result: `alice.thread(&id).await.expect_path_not_found()?`. The access is looked up for each call, as the library
/// does it. A result with anything in a forum that the caller does not see breaks every rule, and so does a failure of
/// the backend. A call that the host lacks skips the rule.
#[derive(Clone)]
pub struct TestCaller {
    pub(crate) inner: Arc<SuiteInner>,
    pub(crate) name: String,
    /// `None` for the guest.
    pub(crate) user: Option<UserId>,
    /// Used instead of the present access.
    pub(crate) cached: Option<Access>,
}

/// The result of the library's access check before a call.
type Admission = BoardResult<()>;

macro_rules! calls {
    ($($kind:ident $name:ident($($argument:ident: $type:ty),*) $(at $place:expr)? => $reply:ty, $part:ident;)+) => {
        impl TestCaller {$(
            #[doc = concat!("Calls [`Board::", stringify!($name), "`](crate::host::Board::", stringify!($name), "),")]
            #[doc = concat!("for which the host needs [`Capability::", stringify!($part), "`].")]
            pub async fn $name(&self, $($argument: &$type),*) -> CallResult<$reply> {
                let arguments: &[String] = &[$(format!("{:?}", $argument)),*];
                let call = format!("{}({}) as {}", stringify!($name), arguments.join(", "), self.name);
                let result = async {
                    let (caller, admission) = self.$kind($($place)?).await?;
                    let result = self.inner.board.$name(&caller, $($argument.clone()),*).await;
                    let result = agreed(&call, admission, result)?;
                    self.inner.checked(&call, Capability::$part, caller.access(), result)
                };
                let result = result.await;
                CallResult { call, result }
            }
        )+}
    };
}

calls! {
    read list_forums() => Vec<Forum>, Guests;
    read get_thread(thread: ThreadId) => Thread, Threads;
    read list_posts(thread: ThreadId, list: ListPostsParams) => InForum<Page<Post>>, Posts;
    read get_member(user: UserRef) => Member, Profiles;
    read get_poll(thread: ThreadId) => InForum<Poll>, Polls;
    read search(search: SearchParams) => Page<SearchHit>, Search;
    read containing_forum(place: ResourceRef<'_>) => ForumId, Replies;

    own get_me() => OwnAccount, Account;
    own list_messages(list: ListMessagesParams) => Page<MessageSummary>, Messages;
    own open_message(message: MessageId, opening: MarkRead) => Message, Messages;
    own list_subscriptions(list: ListSubscriptionsParams) => Page<Subscription>, Subscriptions;

    write create_thread(forum: ForumId, new: NewThread) at ResourceRef::Forum(forum) => Thread, StartingThreads;
    write create_post(thread: ThreadId, reply: NewPost) at ResourceRef::Thread(thread) => InForum<Post>, Replies;
    write update_post(at: PostPath, edit: PostUpdate) at ResourceRef::Post(&at.thread_id, &at.post_id) => InForum<Post>, Editing;
    write delete_post(at: PostPath) at ResourceRef::Post(&at.thread_id, &at.post_id) => (), Deletion;
    write rate_member(user: UserRef, rating: NewRating) at ResourceRef::Global => Rating, Reputation;
    write send_message(new: NewMessage) at ResourceRef::Global => Message, Messages;
    write vote(poll: PollId, vote: NewVote) at ResourceRef::Poll(poll) => InForum<Poll>, Polls;
    write update_poll(poll: PollId, edit: PollUpdate) at ResourceRef::Poll(poll) => InForum<Poll>, Polls;
    write subscribe(what: SubscriptionTarget) at ResourceRef::Global => SubscribeOutcome, Subscriptions;
    write unsubscribe(what: SubscriptionTarget) at ResourceRef::Global => (), Subscriptions;
}

impl TestCaller {
    /// Calls [`Board::threads`](crate::host::Board::threads), unless the caller does not see the forum: then the library
    /// does not call it. The host needs [`Capability::Threads`].
    pub async fn threads(
        &self,
        forum: &ForumId,
        list: &ListThreadsParams,
    ) -> CallResult<Page<Thread>> {
        let call = format!("threads({forum:?}, {list:?}) as {}", self.name);
        let result = async {
            let caller = self.caller().await?;
            let board = &self.inner.board;
            let result = match caller.access().visible_forums().contains(forum) {
                true => {
                    board
                        .list_threads(&caller, forum.clone(), list.clone())
                        .await
                }
                false => Err(BoardError::PathNotFound),
            };
            let access = caller.access();
            self.inner
                .checked(&call, Capability::Threads, access, result)
        };
        let result = result.await;
        CallResult { call, result }
    }

    async fn read(&self) -> TestResult<(Caller, Admission)> {
        Ok((self.caller().await?, Ok(())))
    }

    async fn own(&self) -> TestResult<(MemberCaller, Admission)> {
        Ok((self.member().await?, Ok(())))
    }

    /// A write, a minute after everything before: no rule meets a flood limit by chance.
    async fn write(&self, place: ResourceRef<'_>) -> TestResult<(MemberCaller, Admission)> {
        self.inner.clock.advance(Duration::from_secs(60));
        let member = self.member().await?;
        let forum = match place {
            ResourceRef::Global => return Ok((member, Ok(()))),
            ResourceRef::Forum(forum) => Ok(forum.clone()),
            _ => {
                let caller = Caller::Member(member.clone());
                self.inner.board.containing_forum(&caller, place).await
            }
        };
        let admission = forum.and_then(|forum| {
            let seen = member.access().visible_forums().contains(&forum);
            seen.then_some(()).ok_or(BoardError::PathNotFound)
        });
        Ok((member, admission))
    }

    /// The name; the guest's is "the guest".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id; for the guest the empty one, which no resource has.
    pub fn id(&self) -> UserId {
        self.user.clone().unwrap_or_else(UserId::empty)
    }

    /// A client's reference by id.
    pub fn id_ref(&self) -> UserRef {
        UserRef::Id(self.id())
    }

    /// A client's reference by name.
    pub fn name_ref(&self) -> UserRef {
        UserRef::Name(self.name.clone())
    }

    /// The present access; `None` for an account that can no longer act.
    pub async fn access(&self) -> TestResult<Option<Access>> {
        let authority = &self.inner.authority;
        Ok(match (&self.cached, &self.user) {
            (Some(cached), _) => Some(cached.clone()),
            (None, Some(user)) => authority.member_access(user).await?,
            (None, None) => Some(authority.guest_access().await?),
        })
    }

    /// The same caller with the present access in all later calls, as if one request were under way meanwhile.
    pub async fn cache_access(&self) -> TestResult<Self> {
        let cached = Some(self.caller().await?.access().clone());
        Ok(Self {
            cached,
            ..self.clone()
        })
    }

    async fn caller(&self) -> TestResult<Caller> {
        let access = self.access().await?;
        let access =
            access.ok_or_else(|| TestFailure::mismatch(&self.name, "no access", "access"))?;
        Ok(match &self.user {
            Some(user) => Caller::Member(MemberCaller::new(user.clone(), access)),
            None => Caller::Guest(access),
        })
    }

    async fn member(&self) -> TestResult<MemberCaller> {
        match self.caller().await? {
            Caller::Member(member) => Ok(member),
            Caller::Guest(_) => Err(TestFailure::mismatch(&self.name, "a guest", "a member")),
        }
    }
}

impl Debug for TestCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Refuses a call that the library does not admit: the board has to refuse it as absent by itself, because it decides
/// later, inside its own transaction.
fn agreed<T: Debug>(
    call: &str,
    admission: Admission,
    result: BoardResult<T>,
) -> TestResult<BoardResult<T>> {
    match (admission, result) {
        (Err(BoardError::PathNotFound), Ok(reply)) => Err(TestFailure::mismatch(
            call,
            format_args!("{reply:?}"),
            "BoardError::PathNotFound, because the caller cannot see the resource",
        )),
        (Err(BoardError::NotImplemented), Ok(_)) => Err(TestFailure::mismatch(
            call,
            "no implementation of `Board::containing_forum` for this resource",
            "one, which the library calls before each write",
        )),
        (Err(refusal), Ok(_) | Err(BoardError::PathNotFound)) => Ok(Err(refusal)),
        (_, result) => Ok(result),
    }
}
