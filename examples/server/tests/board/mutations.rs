//! Mutations of the board that a change of one expression cannot produce: races, stale results, decisions based on
//! outdated permissions, and pages by offset. The conformance rules that are listed with a mutation must fail.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::conformance::{
    Audience, BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Role, TestFailure,
    run, run_all,
};
use forum_api::host::{
    Access, Authorizer, BackendError, BackendResult, Board, BoardError, BoardResult, Caller, Host,
    InForum, MemberCaller, OwnerAccess, RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::*;
use forum_api::runtime::{ManualClock, OsRandom};
use forum_api::store::Stores;
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::{Event, EventMeta};
use forum_api::{async_trait, board_methods};
use tokio::sync::Mutex;

use crate::backend::Backend;
use crate::board::access::actor::Actor;
use crate::model::memory;

/// Fault of a mutated method.
#[derive(Clone, Copy)]
enum Mutation {
    /// Each call returns the result of the first call with the same caller and arguments, if that call succeeded.
    StaleResult,
    /// A call that races with another one is skipped and returns the last successful result.
    RacingCallIsSkipped,
    /// A call that races with another one and is refused returns the last successful result.
    RacingCallIsGranted,
    /// A call that races with another one and is refused emits an event.
    RacingCallEmits,
    /// A call that races with another one sends one more receipt.
    RacingCallSends,
    /// A refused call runs again as an administrator if the caller may have had permission when the request arrived.
    OutdatedPermissions(fn(&BoardError, &Caller) -> bool),
    /// Pages begin at an offset from the start of the list.
    Offset,
    /// On a board that leaves places, each caller may read deleted posts.
    ReadablePlaces,
}

use Mutation::*;

/// The mutations, each with the mutated methods and the rules that fail.
const MUTATIONS: &[(Mutation, &[&str])] = &[
    (
        StaleResult,
        &[
            "get_thread access::revoked_access_is_effective_at_once",
            "access service::a_token_never_outlives_its_owners_access",
            "load_token access::a_loaded_token_has_its_current_state_and_owner",
            "members_access access::the_access_of_several_members_is_that_of_each",
        ],
    ),
    (
        RacingCallIsSkipped,
        &[
            "create_post replies::concurrent_replies_are_all_stored",
            "create_post events::concurrent_replies_emit_one_event_each",
        ],
    ),
    (
        RacingCallIsGranted,
        &[
            "delete_post deletion::one_of_concurrent_deletions_succeeds",
            "update_post edits::one_of_concurrent_edits_succeeds",
            "vote votes::one_of_concurrent_votes_counts",
            "rate_member reputation::one_of_concurrent_ratings_counts",
        ],
    ),
    (
        RacingCallEmits,
        &[
            "delete_post events::concurrent_deletions_emit_one_event",
            "vote events::concurrent_votes_emit_one_event",
        ],
    ),
    (
        RacingCallSends,
        &["open_message receipts::concurrent_openings_send_one_receipt"],
    ),
    (
        OutdatedPermissions(could_see),
        &[
            "create_thread access::a_write_in_progress_is_rejected_if_its_forum_becomes_hidden",
            "vote votes::a_vote_in_a_newly_hidden_thread_is_not_found",
            "subscribe subscriptions::a_subscribe_in_progress_is_rejected_if_access_is_lost",
        ],
    ),
    (
        OutdatedPermissions(was_moderator),
        &[
            "update_post edits::a_dismissed_moderator_cannot_edit",
            "delete_post edits::a_dismissed_moderator_cannot_edit",
            "update_poll poll_edits::a_dismissed_moderator_cannot_edit_a_poll",
        ],
    ),
    (
        OutdatedPermissions(had_account),
        &[
            "create_post access::a_write_in_progress_is_rejected_if_its_author_is_banned",
            "update_post edits::a_banned_author_cannot_edit",
            "delete_post edits::a_banned_author_cannot_edit",
            "vote votes::a_banned_member_cannot_vote",
            "rate_member reputation::a_banned_member_cannot_rate",
            "send_message message_sending::a_banned_member_cannot_send_messages",
            "subscribe subscriptions::a_subscribe_in_progress_is_rejected_if_access_is_lost",
        ],
    ),
    (
        Offset,
        &["list_threads threads::pagination_finds_each_thread_once_during_writes"],
    ),
    (
        ReadablePlaces,
        &["list_posts deletion::a_place_has_no_author_and_no_texts"],
    ),
];

fn could_see(refusal: &BoardError, by: &Caller) -> bool {
    let hidden = matches!(refusal, BoardError::PathNotFound | BoardError::NotFound(_));
    hidden && !by.access().visible_forums().is_empty()
}

fn was_moderator(_: &BoardError, by: &Caller) -> bool {
    by.extension::<Arc<Actor>>()
        .is_ok_and(|actor| actor.access(1).moderate)
}

fn had_account(refusal: &BoardError, _: &Caller) -> bool {
    format!("{refusal:?}").contains("account")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mutation_is_caught_by_its_rule() {
    let mut checks = Vec::new();
    for (mutation, rows) in MUTATIONS {
        for row in *rows {
            checks.push(tokio::spawn(check(*mutation, row)));
        }
    }
    let mut missed = Vec::new();
    for check in checks {
        missed.extend(check.await.unwrap());
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Checks a row of a mutation. Returns the row if its rule does not detect the mutation.
async fn check(mutation: Mutation, row: &'static str) -> Option<&'static str> {
    let (method, rule) = row.split_once(' ').unwrap();
    let factory = MutantFactory {
        unsupported: match mutation {
            ReadablePlaces => vec![Capability::HiddenDeletedPosts],
            _ => Vec::new(),
        },
        ..MutantFactory::new(method, mutation)
    };
    match run(rule, &factory).await {
        Err(TestFailure::Failed(text)) if !text.starts_with("the fixture failed") => None,
        _ => Some(row),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_on_concurrent_calls_are_skipped_without_atomic_commands() {
    for (mutation, rows) in MUTATIONS {
        if !matches!(
            mutation,
            RacingCallIsGranted | RacingCallEmits | RacingCallSends
        ) {
            continue;
        }
        for row in *rows {
            let (method, rule) = row.split_once(' ').unwrap();
            let factory = MutantFactory {
                unsupported: vec![Capability::AtomicCommands],
                ..MutantFactory::new(method, *mutation)
            };
            let expected = TestFailure::Unsupported(Capability::AtomicCommands);
            assert_eq!(run(rule, &factory).await, Err(expected), "{rule}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_omitted_operations_are_skipped() {
    let factory = MutantFactory {
        omitted_operations: &["vote", "deletePost"],
        ..MutantFactory::new("", StaleResult)
    };
    for rule in [
        "votes::one_of_concurrent_votes_counts",
        "deletion::one_of_concurrent_deletions_succeeds",
    ] {
        let result = run(rule, &factory).await;
        assert!(
            matches!(result, Err(TestFailure::Unsupported(_))),
            "{rule}: {result:?}"
        );
    }
}

/// An expected difference is reported with its reason. A listed rule that passes fails.
#[tokio::test(flavor = "multi_thread")]
async fn an_expected_difference_does_not_fail() {
    const RULE: &str = "access::revoked_access_is_effective_at_once";
    let expected = MutantFactory {
        expected_differences: &[(RULE, "access is cached")],
        ..MutantFactory::new("get_thread", StaleResult)
    };
    let result = run(RULE, &expected).await.unwrap_err().to_string();
    assert!(result.starts_with("access is cached; "), "{result}");
    let passing = MutantFactory {
        expected_differences: &[(RULE, "access is cached")],
        ..MutantFactory::new("", StaleResult)
    };
    assert!(matches!(
        run(RULE, &passing).await,
        Err(TestFailure::Failed(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "lists `visibility::nothing`, which is not a rule")]
async fn an_expected_difference_names_a_rule() {
    let factory = MutantFactory {
        expected_differences: &[("visibility::nothing", "it does not exist")],
        ..MutantFactory::new("", StaleResult)
    };
    run_all(&factory).await;
}

struct MutantFactory {
    method: &'static str,
    mutation: Mutation,
    unsupported: Vec<Capability>,
    omitted_operations: &'static [&'static str],
    expected_differences: &'static [(&'static str, &'static str)],
}

impl MutantFactory {
    fn new(method: &'static str, mutation: Mutation) -> Self {
        Self {
            method,
            mutation,
            unsupported: Vec::new(),
            omitted_operations: &[],
            expected_differences: &[],
        }
    }
}

#[async_trait]
impl BoardFactory for MutantFactory {
    async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
        let fixture: Box<dyn BoardFixture> = match self.mutation {
            ReadablePlaces => memory::tests::PLACES.create(clock).await?,
            _ => Backend::Memory.create(clock).await?,
        };
        let host = fixture.board();
        Ok(Box::new(Mutant(Arc::new(Inner {
            root: fixture.add_member("root", Role::Administrator).await?,
            stores: fixture.stores().unwrap_or_else(|_| Stores::in_memory()),
            fixture,
            authorizer: host.authorizer().clone(),
            board: host.board().clone(),
            method: self.method,
            mutation: self.mutation,
            results: Mutex::default(),
            emitted: Mutex::default(),
            in_flight: AtomicUsize::new(0),
        }))))
    }

    fn unsupported(&self) -> &[Capability] {
        &self.unsupported
    }

    fn omitted_operations(&self) -> &[&str] {
        self.omitted_operations
    }

    fn expected_differences(&self) -> &[(&str, &str)] {
        self.expected_differences
    }
}

/// A reference board with one mutated method.
#[derive(Clone)]
struct Mutant(Arc<Inner>);

struct Inner {
    fixture: Box<dyn BoardFixture>,
    authorizer: Arc<dyn Authorizer>,
    board: Arc<dyn Board>,
    stores: Stores,
    /// An administrator.
    root: UserId,
    method: &'static str,
    mutation: Mutation,
    /// Granted results by caller and arguments; the last one under an empty key.
    results: Mutex<HashMap<String, Box<dyn Any + Send + Sync>>>,
    emitted: Mutex<Vec<Event>>,
    /// The number of calls of the mutated method under way.
    in_flight: AtomicUsize,
}

impl Mutant {
    /// Runs a call, with the mutation if the method is mutated. Calls of the mutated method run one after another.
    async fn call<A, R, F>(
        &self,
        method: &str,
        by: Caller,
        mut arguments: A,
        run: impl Fn(Caller, A) -> F + Send + Sync,
    ) -> BoardResult<R>
    where
        A: Clone + Debug + Send + Sync + 'static,
        R: Clone + Send + Sync + 'static,
        F: Future<Output = BoardResult<R>> + Send,
    {
        if method != self.0.method {
            return run(by, arguments).await;
        }
        let races = self.0.in_flight.fetch_add(1, Ordering::Relaxed) > 0;
        let mut results = self.0.results.lock().await;
        let key = format!("{:?} {arguments:?}", by.user_id());
        let found = |key: &str| results.get(key)?.downcast_ref::<R>().cloned();
        let offset = match self.0.mutation {
            Offset => request_all(&mut arguments),
            _ => None,
        };
        let cached = match self.0.mutation {
            StaleResult => found(&key),
            RacingCallIsSkipped if races => found(""),
            _ => None,
        };
        let first = run(by.clone(), arguments.clone());
        let mut result = match (cached, first, self.0.mutation) {
            (Some(cached), ..) => Ok(cached),
            (None, run, RacingCallIsGranted) if races => run.await.or_else(|e| found("").ok_or(e)),
            (None, first, OutdatedPermissions(is_outdated)) => match first.await {
                Err(refusal) if is_outdated(&refusal, &by) => {
                    run(self.root().await?, arguments).await
                }
                result => result,
            },
            (None, run, RacingCallEmits) if races => {
                let result = run.await;
                if result.is_err() {
                    let at = EventMeta::new(&OsRandom, Timestamp::default()).unwrap();
                    self.0.emitted.lock().await.push(Event::ping(at));
                }
                result
            }
            (None, run, RacingCallSends) if races => {
                let result = run.await;
                if let Ok(message) = &result {
                    self.send_receipt(&by, message).await?;
                }
                result
            }
            (None, run, _) => run.await,
        };
        if let (ReadablePlaces, Ok(page)) = (self.0.mutation, &mut result) {
            make_readable(page);
        }
        if let (Some(offset), Ok(page)) = (offset, &mut result) {
            select_page(page, offset);
        }
        if let Ok(result) = &result {
            results.insert(key, Box::new(result.clone()));
            results.insert(String::new(), Box::new(result.clone()));
        }
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        result
    }

    async fn root(&self) -> BoardResult<Caller> {
        let request = RequestInfo::new(Timestamp::default());
        let access = self
            .0
            .authorizer
            .member_access(&self.0.root, &request)
            .await?
            .ok_or(BoardError::PathNotFound)?;
        Ok(Caller::Member(MemberCaller::new(
            self.0.root.clone(),
            access,
            request,
        )))
    }

    async fn access(
        &self,
        user: Option<&UserId>,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let run = || async {
            match user {
                Some(user) => self.0.authorizer.member_access(user, request).await,
                None => self.0.authorizer.guest_access(request).await.map(Some),
            }
        };
        self.call_host("access", user.cloned(), run).await
    }

    /// Sends one more receipt for a message.
    async fn send_receipt(
        &self,
        by: &Caller,
        message: &(dyn Any + Send + Sync),
    ) -> BoardResult<()> {
        let opened = &message.downcast_ref::<Message>().unwrap().summary;
        let sender = opened.sender.clone().unwrap();
        let mut receipt = NewMessage::default();
        receipt.to = vec![UserRef::Id(sender.user_id)];
        receipt.subject = format!("Read: {}", opened.subject);
        receipt.body = "It was read.".into();
        let reader = MemberCaller::from_caller(by)?;
        self.0.board.send_message(reader, receipt).await?;
        Ok(())
    }

    /// Runs a call of the host without a caller.
    async fn call_host<A, R, F>(
        &self,
        method: &str,
        arguments: A,
        run: impl Fn() -> F + Send + Sync,
    ) -> BackendResult<R>
    where
        A: Clone + Debug + Send + Sync + 'static,
        R: Clone + Send + Sync + 'static,
        F: Future<Output = BackendResult<R>> + Send,
    {
        let request = RequestInfo::new(Timestamp::default());
        let guest = Caller::guest(Access::new(VisibleForums::none()), request);
        let run = |_, _| {
            let call = run();
            async { Ok(call.await?) }
        };
        let result = self.call(method, guest, arguments, run).await;
        result.map_err(|refusal| BackendError::new(format!("{refusal:?}")))
    }
}

/// Changes the arguments of a list of threads to those of the whole list. Returns the first item and the limit of the
/// page.
fn request_all(arguments: &mut dyn Any) -> Option<(usize, usize)> {
    let (_, list) = arguments.downcast_mut::<(ForumId, List<ThreadFilter>)>()?;
    let start = list
        .after
        .take()
        .and_then(|after| after.as_str().parse().ok());
    let limit = list.limit.get();
    list.limit = PageLimit::new(100).unwrap();
    Some((start.unwrap_or(0), limit))
}

/// Lets the caller read the deleted posts of a page.
fn make_readable(page: &mut dyn Any) {
    let page: &mut InForum<Page<Post>> = page.downcast_mut().unwrap();
    let posts = page.value.items.iter_mut();
    posts.for_each(|post| post.can_read_deleted = true);
}

/// Changes the whole list to a page.
fn select_page(list: &mut dyn Any, (start, limit): (usize, usize)) {
    let page = list.downcast_mut::<Page<Thread>>().unwrap();
    let end = start + limit;
    page.next = (end < page.items.len()).then(|| PageKey::new(end));
    page.items.truncate(end);
    page.items.drain(..start);
}

#[async_trait]
impl Authorizer for Mutant {
    async fn guest_access(&self, request: &RequestInfo) -> BackendResult<Access> {
        Ok(self.access(None, request).await?.unwrap())
    }

    async fn member_access(
        &self,
        owner: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        self.access(Some(owner), request).await
    }

    async fn members_access(
        &self,
        owners: &[UserId],
        request: &RequestInfo,
    ) -> BackendResult<Option<HashMap<UserId, Access>>> {
        let run = || self.0.authorizer.members_access(owners, request);
        self.call_host("members_access", owners.to_vec(), run).await
    }

    async fn load_token(
        &self,
        lookup: &Lookup,
    ) -> BackendResult<Option<(TokenRecord, OwnerAccess)>> {
        let run = || self.0.authorizer.load_token(lookup);
        self.call_host("load_token", *lookup, run).await
    }
}

trait FromCaller: Sized {
    fn caller(&self) -> Caller;
    fn from_caller(caller: &Caller) -> BoardResult<&Self>;
}

impl FromCaller for Caller {
    fn caller(&self) -> Caller {
        self.clone()
    }

    fn from_caller(caller: &Caller) -> BoardResult<&Self> {
        Ok(caller)
    }
}

impl FromCaller for MemberCaller {
    fn caller(&self) -> Caller {
        Caller::Member(self.clone())
    }

    fn from_caller(caller: &Caller) -> BoardResult<&Self> {
        caller.as_member().ok_or(BoardError::PathNotFound)
    }
}

macro_rules! methods {
    ($($by:ident $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl Board for Mutant {
            async fn containing_forum(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<ForumId> {
                self.0.board.containing_forum(caller, resource).await
            }

            async fn exists(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
                self.0.board.exists(caller, resource).await
            }

            $(async fn $name(&self, by: &$by $(, $argument: $type)*) -> BoardResult<$result> {
                let run = |by: Caller, ($($argument,)*): ($($type,)*)| async move {
                    let by = <$by as FromCaller>::from_caller(&by)?;
                    self.0.board.$name(by $(, $argument)*).await
                };
                self.call(stringify!($name), by.caller(), ($($argument,)*), run).await
            })+
        }
    };
}

board_methods!(methods);

macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty),*);)+) => {
        #[async_trait]
        impl BoardFixture for Mutant {
            fn board(&self) -> Host {
                Arc::new(self.clone()).into()
            }

            async fn add_member(&self, name: &str, role: Role) -> FixtureResult<UserId> {
                self.0.fixture.add_member(name, role).await
            }

            async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId> {
                self.0.fixture.add_forum(new).await
            }

            fn stores(&self) -> FixtureResult<Stores> {
                Ok(self.0.stores.clone())
            }

            async fn events(&self) -> FixtureResult<Vec<Event>> {
                let mut events = self.0.fixture.events().await?;
                events.append(&mut *self.0.emitted.lock().await);
                Ok(events)
            }

            $(async fn $name(&self, $($argument: $type),*) -> FixtureResult<()> {
                self.0.fixture.$name($($argument),*).await
            })+
        }
    };
}

operations! {
    set_moderator(forum: &ForumId, member: &UserId, is_moderator: bool);
    set_banned(member: &UserId, banned: bool);
    set_locked(thread: &ThreadId, locked: bool);
    set_readers(forum: &ForumId, readers: Audience);
    set_offline(offline: bool);
    set_pinned(thread: &ThreadId, pinned: bool);
    approve(post: &PostId);
    restore(post: &PostId);
    ignore(member: &UserId, ignored: &UserId);
    remove_account(member: &UserId);
}
