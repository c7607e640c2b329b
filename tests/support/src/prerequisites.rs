//! What a drill needs: a Postgres and a Redis, and the machine for itself.

use std::env;
use std::sync::{Mutex, PoisonError};

const POSTGRES: &str = "FORUM_API_POSTGRES";
const REDIS: &str = "FORUM_API_REDIS";

/// Where the stores are that all drills share.
#[derive(Clone, Debug)]
pub struct BackendUrls {
    /// A Postgres in which anything may be made.
    pub postgres: String,
    /// A Redis in which anything may be made.
    pub redis: String,
}

/// Runs a drill where both stores are, one after the other: each keeps the machine busy.
pub fn run_drill<F: Future<Output = ()>>(drill: impl FnOnce(BackendUrls) -> F) {
    static TURN: Mutex<()> = Mutex::new(());
    let (Ok(postgres), Ok(redis)) = (env::var(POSTGRES), env::var(REDIS)) else {
        panic!("{POSTGRES} and {REDIS} must each hold the address of a store");
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build();
    runtime
        .unwrap()
        .block_on(drill(BackendUrls { postgres, redis }));
}
