//! Model-based test: runs random histories on the reference board and on the board in memory of the examples, and
//! compares the responses and the events.
//!
//! `MODEL_STEPS=100000 cargo test --test board model` runs that number of steps instead of 2,000, and `MODEL_SEED`
//! selects other histories. A failing history is reported in its shortest form.

mod action;
mod action_runner;
#[path = "../../../../memory/board.rs"]
pub mod memory;

use std::env;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tokio::runtime::Builder;

use action::Action;
use action_runner::ActionRunner;

use crate::prelude::*;

/// Average number of steps of a history.
const STEPS_PER_HISTORY: usize = 100;

/// The board in memory does not limit the number of ratings.
const SETTINGS: &[(&str, &str)] = &[("reputation.per_day", "1000")];

#[test]
fn the_board_matches_its_model_in_random_histories() {
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
    let actions = vec(action::any_action(), 1..2 * STEPS_PER_HISTORY);
    let result = TestRunner::new_with_rng(config, random).run(&actions, |actions| {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        match runtime.block_on(first_difference(&actions)) {
            Some(difference) => Err(TestCaseError::fail(difference)),
            None => Ok(()),
        }
    });
    result.unwrap_or_else(|difference| panic!("{difference}"));
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

fn number(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}
