//! Model-based tests. One runs random histories on the reference board and on the board in memory of the examples, and
//! compares the responses and the events. The other one applies the events to a mirror, and compares it with the board.
//!
//! `MODEL_STEPS=100000 cargo test --workspace --test board model` runs that number of steps of each instead of 2,000, and `MODEL_SEED`
//! selects other histories. A failing history is reported in its shortest form.

mod action;
mod action_runner;
#[path = "../../../../memory/board.rs"]
pub mod memory;
mod mirror;

use std::env;

use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tokio::runtime::Builder;

use action::Action;
use action_runner::ActionRunner;
use mirror::Mirror;

use crate::prelude::*;

/// Average number of steps of a history.
const STEPS_PER_HISTORY: usize = 100;

/// The board in memory does not limit the number of ratings.
const SETTINGS: &[(&str, &str)] = &[("reputation.per_day", "1000")];

#[test]
fn the_board_matches_its_model_in_random_histories() {
    run_histories(action::any_action(), async |actions| first_difference(&actions).await);
}

#[test]
fn a_mirror_of_the_events_matches_the_board_in_random_histories() {
    run_histories(action::any_moderated_action(), async |actions| first_fault(&actions).await);
}

/// Runs random histories of these actions. `check` returns the first fault of a history.
fn run_histories(
    action: impl Strategy<Value = Action>,
    check: impl AsyncFn(Vec<Action>) -> Option<String>,
) {
    let histories = number("MODEL_STEPS", 2_000) / STEPS_PER_HISTORY;
    let config = Config {
        cases: u32::try_from(histories).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let seed = u128::try_from(number("MODEL_SEED", 0)).unwrap();
    let random = TestRng::from_seed(
        RngAlgorithm::ChaCha,
        &[seed.to_le_bytes(), seed.to_le_bytes()].concat(),
    );
    let actions = vec(action, 1..2 * STEPS_PER_HISTORY);
    let result = TestRunner::new_with_rng(config, random).run(&actions, |actions| {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        match runtime.block_on(check(actions)) {
            Some(fault) => Err(TestCaseError::fail(fault)),
            None => Ok(()),
        }
    });
    result.unwrap_or_else(|fault| panic!("{fault}"));
}

/// Runs `actions` on a new board and its model. Returns the first difference of their results.
async fn first_difference(actions: &[Action]) -> Option<String> {
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
    let backend = Backend::Memory.or_from_environment();
    let created_board = backend.create_with_settings(clock.clone(), SETTINGS).await.unwrap();
    let mut board = ActionRunner::new(created_board, &clock).await;
    let factory = memory::fixture::Factory::default();
    let created_model = factory.create(clock.clone()).await.unwrap();
    let mut model = ActionRunner::new(created_model, &clock).await;
    for action in actions {
        clock.advance(action.wait());
        let actual = board.run(action).await;
        if action.may_differ(&actual) {
            continue;
        }
        let expected = model.run(action).await;
        if actual != expected {
            return Some(format!("{action:?}: {actual}, and {expected} in the model"));
        }
    }
    None
}

/// Runs `actions` on a new board, and applies its events to a mirror. Returns the first event that the mirror cannot apply, or
/// the first difference.
async fn first_fault(actions: &[Action]) -> Option<String> {
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
    let backend = Backend::Memory.or_from_environment();
    let created = backend.create_with_settings(clock.clone(), SETTINGS).await.unwrap();
    let mut board = ActionRunner::new(created, &clock).await;
    let mut mirror = Mirror::default();
    for (index, action) in actions.iter().enumerate() {
        clock.advance(action.wait());
        let done = board.run(action).await;
        let mut fault = mirror.apply(&done["events"]);
        if fault.is_none() && (mirror.lacks_poll() || index % 10 == 9 || index + 1 == actions.len())
        {
            fault = mirror.difference(&board.read_all().await);
        }
        if let Some(fault) = fault {
            return Some(format!("{action:?}: {fault}"));
        }
    }
    None
}

fn number(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}
