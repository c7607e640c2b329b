//! Mutations of the board that a change of one expression cannot produce: races and stale results. The conformance rules
//! that are listed with a mutation must fail.

use std::any::Any;

use forum_api::board_methods;
use forum_api::conformance::{Capability, TestFailure, run, run_all};
use forum_api::host::{Board, Caller, CreateOutcome, InForum, MemberCaller, ResourceRef};
use forum_api::model::*;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

/// Fault of a mutated method.
#[derive(Clone, Copy, Default, PartialEq)]
enum Mutation {
    #[default]
    None,
    /// Each call returns the result of the first call with the same caller and arguments, if that call succeeded.
    StaleResult,
    /// A call that races with another one is skipped and returns the last successful result.
    RacingCallIsSkipped,
    /// A call that races with another one and is refused returns the last successful result.
    RacingCallIsGranted,
}

use Mutation::{RacingCallIsGranted, RacingCallIsSkipped, StaleResult};

use crate::prelude::*;

/// The mutations, each with the mutated method and a rule that fails.
#[rustfmt::skip]
const MUTATIONS: [(Mutation, &str, &str); 7] = [
    (StaleResult, "get_thread", ACCESS),
    (RacingCallIsSkipped, "create_post", "replies::concurrent_replies_are_all_stored"),
    (RacingCallIsSkipped, "create_post", "events::concurrent_replies_emit_one_event_each"),
    (RacingCallIsGranted, "delete_post", "deletion::one_of_concurrent_deletions_succeeds"),
    (RacingCallIsGranted, "update_post", "edits::one_of_concurrent_edits_succeeds"),
    (RacingCallIsGranted, "vote", "votes::one_of_concurrent_votes_counts"),
    (RacingCallIsGranted, "rate_member", "reputation::one_of_concurrent_ratings_counts"),
];

/// Time that a call waits for another one to overlap with it.
const RACE_LIMIT: Duration = Duration::from_millis(200);

const ACCESS: &str = "access::revoked_access_is_effective_at_once";

#[tokio::test(flavor = "multi_thread")]
async fn each_mutation_is_caught_by_its_rule() {
    for (mutation, method, rule) in MUTATIONS {
        let mutant = MutantFactory { method, mutation, ..MutantFactory::default() };
        let result = run(rule, &mutant).await;
        let is_caught = matches!(&result, Err(TestFailure::Failed(text)) if !text.starts_with("the fixture failed"));
        assert!(is_caught, "{rule}: {result:?}");
        if mutation == RacingCallIsGranted {
            let unsupported =
                MutantFactory { unsupported: &[Capability::AtomicCommands], ..mutant };
            let expected = TestFailure::Unsupported(Capability::AtomicCommands);
            assert_eq!(run(rule, &unsupported).await, Err(expected), "{rule}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_omitted_operations_are_skipped() {
    let factory =
        MutantFactory { omitted_operations: &["vote", "deletePost"], ..MutantFactory::default() };
    for rule in
        ["votes::one_of_concurrent_votes_counts", "deletion::one_of_concurrent_deletions_succeeds"]
    {
        let result = run(rule, &factory).await;
        let is_skipped = matches!(result, Err(TestFailure::Unsupported(_)));
        assert!(is_skipped, "{rule}: {result:?}");
    }
}

/// An expected difference is reported with its reason. A listed rule that passes fails.
#[tokio::test(flavor = "multi_thread")]
async fn an_expected_difference_does_not_fail() {
    let passing = MutantFactory {
        expected_differences: &[(ACCESS, "access is cached")],
        ..MutantFactory::default()
    };
    let result = run(ACCESS, &passing).await;
    assert!(matches!(result, Err(TestFailure::Failed(_))), "{result:?}");
    let expected = MutantFactory { method: "get_thread", mutation: StaleResult, ..passing };
    let result = run(ACCESS, &expected).await.unwrap_err().to_string();
    assert!(result.starts_with("access is cached; "), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "lists `visibility::nothing`, which is not a rule")]
async fn an_expected_difference_names_a_rule() {
    let factory = MutantFactory {
        expected_differences: &[("visibility::nothing", "it does not exist")],
        ..MutantFactory::default()
    };
    run_all(&factory).await;
}

/// Creates reference boards with one mutated method.
#[derive(Default)]
struct MutantFactory {
    method: &'static str,
    mutation: Mutation,
    unsupported: &'static [Capability],
    omitted_operations: &'static [&'static str],
    expected_differences: &'static [(&'static str, &'static str)],
}

#[async_trait]
impl BoardFactory for MutantFactory {
    async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
        let mut fixture = Backend::Memory.create_storage().await.fixture(clock).await;
        let mutant = Mutant {
            board: fixture.host.board().clone(),
            method: self.method,
            mutation: self.mutation,
            results: Mutex::default(),
            in_flight: watch::Sender::new(0),
        };
        fixture.host = Host::new(fixture.host.authorizer().clone(), Arc::new(mutant));
        Ok(Box::new(fixture))
    }

    fn unsupported(&self) -> &[Capability] {
        self.unsupported
    }

    fn omitted_operations(&self) -> &[&str] {
        self.omitted_operations
    }

    fn expected_differences(&self) -> &[(&str, &str)] {
        self.expected_differences
    }
}

struct Mutant {
    board: Arc<dyn Board>,
    method: &'static str,
    mutation: Mutation,
    /// Successful results by caller and arguments; the last one under an empty key.
    results: Mutex<HashMap<String, Box<dyn Any + Send + Sync>>>,
    /// The number of calls of the mutated method under way.
    in_flight: watch::Sender<usize>,
}

impl Mutant {
    /// Runs a call, with the mutation if the method is mutated. Calls of the mutated method run one after another.
    async fn call<R: Clone + Send + Sync + 'static>(
        &self,
        method: &str,
        key: String,
        run: impl Future<Output = BoardResult<R>> + Send,
    ) -> BoardResult<R> {
        if method != self.method {
            return run.await;
        }
        self.in_flight.send_modify(|calls| *calls += 1);
        let mut in_flight = self.in_flight.subscribe();
        let second_call = in_flight.wait_for(|calls| *calls > 1);
        // Expires if no other call of the method is under way.
        let races = timeout(RACE_LIMIT, second_call).await.is_ok();
        let mut results = self.results.lock().await;
        let found = |key: &str| results.get(key)?.downcast_ref::<R>().cloned();
        let earlier = match self.mutation {
            StaleResult => found(&key),
            RacingCallIsSkipped if races => found(""),
            _ => None,
        };
        let result = match earlier {
            Some(earlier) => Ok(earlier),
            None => match run.await {
                Err(refusal) if races && self.mutation == RacingCallIsGranted => {
                    found("").ok_or(refusal)
                }
                result => result,
            },
        };
        if let Ok(result) = &result {
            results.insert(key, Box::new(result.clone()));
            results.insert(String::new(), Box::new(result.clone()));
        }
        self.in_flight.send_modify(|calls| *calls -= 1);
        result
    }
}

macro_rules! methods {
    ($($by:ident $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl Board for Mutant {
            async fn containing_forum(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<ForumId> {
                self.board.containing_forum(caller, resource).await
            }

            async fn exists(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
                self.board.exists(caller, resource).await
            }

            $(async fn $name(&self, by: &$by $(, $argument: $type)*) -> BoardResult<$result> {
                let key = format!("{:?} {:?}", by.user_id(), ($(&$argument,)*));
                let run = self.board.$name(by $(, $argument)*);
                self.call(stringify!($name), key, run).await
            })+
        }
    };
}

board_methods!(methods);
