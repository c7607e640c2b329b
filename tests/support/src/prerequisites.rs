//! Backends of drills, and their execution one after another.

use std::env;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::Builder;

use crate::postgres;

/// URLs of the servers in which drills may create databases.
#[derive(Clone, Debug)]
pub struct BackendUrls {
    pub postgres: String,
    pub redis: String,
    /// URLs of replicas of the Postgres.
    pub replicas: Vec<String>,
}

/// Runs a drill. Drills run one after another, because each keeps the machine busy.
pub fn run_drill<F: Future<Output = ()>>(drill: impl FnOnce(BackendUrls) -> F) {
    static TURN: Mutex<()> = Mutex::new(());
    let urls = BackendUrls {
        postgres: postgres::url(),
        redis: env::var("FORUM_API_REDIS").expect("FORUM_API_REDIS is the URL of a Redis"),
        replicas: Vec::new(),
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(drill(urls));
}
