//! A Postgres to try things in.

use std::env;
use std::io::{Write, stderr};
use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::before::{Club, Pool, connect};

/// The address of a Postgres in which anything may be made.
const ADDRESS: &str = "FORUM_API_POSTGRES";

/// Runs a test, where there is a Postgres.
pub fn try_in_postgres(test: impl Future<Output = ()>) {
    static LEFT_OUT: Once = Once::new();
    if env::var_os(ADDRESS).is_none() {
        let say = || {
            writeln!(
                stderr(),
                "left out: all in Postgres, as {ADDRESS} names none"
            )
        };
        return LEFT_OUT.call_once(|| say().unwrap());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// A schema that nothing is in.
pub async fn schema() -> Pool {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "test_{}_{}",
        process::id(),
        MADE.fetch_add(1, Ordering::Relaxed)
    );
    let address = env::var(ADDRESS).unwrap();
    let pool = connect(&format!("{address}?options=-csearch_path%3D{name}")).unwrap();
    let create = format!("CREATE SCHEMA {name}");
    let client = pool.get().await.unwrap();
    client.batch_execute(&create).await.unwrap();
    pool
}

/// A board that nothing is in, whose members wait for so long between two entries.
pub async fn club(pause: Duration) -> Club {
    Club::open(schema().await, pause).await.unwrap()
}
