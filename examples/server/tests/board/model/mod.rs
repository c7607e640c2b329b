//! Model-based test: runs random histories on the board and on a simple model in memory, and compares the status, the
//! error code and the visible content of each response.
//!
//! `MODEL_STEPS=100000 cargo test --test board model` runs that number of steps instead of 2,000, and `MODEL_SEED`
//! selects other histories. A failing history is reported in its shortest form.

mod action;
mod commands;
mod runner;
mod state;

use std::env;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tokio::runtime::Builder;

use crate::backend::Backend;
use action::Action;
use runner::ModelRunner;

/// Average number of steps of a history.
const STEPS_PER_HISTORY: usize = 100;

#[test]
fn the_board_matches_its_model_in_random_histories() {
    let histories = number("MODEL_STEPS", 2_000) / STEPS_PER_HISTORY;
    let config = Config {
        cases: u32::try_from(histories).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let seed = u128::try_from(number("MODEL_SEED", 0))
        .unwrap()
        .to_le_bytes();
    let seed = [seed, seed].concat();
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let histories = vec(action::action(), 1..2 * STEPS_PER_HISTORY);
    let result = TestRunner::new_with_rng(config, random).run(&histories, |actions| {
        run_history(&actions).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|difference| panic!("{difference}"));
}

/// Runs `actions` on a new board and its model.
fn run_history(actions: &[Action]) -> Result<(), String> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut runner = ModelRunner::new(Backend::Memory.or_from_environment()).await;
        for action in actions {
            runner.step(action).await?;
        }
        Ok(())
    })
}

fn number(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}
