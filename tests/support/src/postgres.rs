//! A Postgres to try things in.

use std::env;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use forum_api::store::postgres::connect;
use forum_api::store::postgres::deadpool_postgres::Pool;

/// The address of a Postgres in which anything may be made.
pub const VARIABLE: &str = "FORUM_API_POSTGRES";

/// Runs a test on a runtime with several threads.
pub fn run_with_postgres(test: impl Future<Output = ()>) {
    url();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// The address of that Postgres.
///
/// # Panics
/// When the environment names none.
pub fn url() -> String {
    env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} has to name a Postgres, which tests/run starts"))
}

/// The address of a schema that nothing is in.
pub async fn schema() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "test_{}_{}",
        process::id(),
        MADE.fetch_add(1, Ordering::Relaxed)
    );
    let address = format!("{}?options=-csearch_path%3D{name}", url());
    let client = pool(&address, 1).get().await.unwrap();
    let create = format!("CREATE SCHEMA {name}");
    client.batch_execute(&create).await.unwrap();
    address
}

/// So many connections to that schema.
pub fn pool(address: &str, size: usize) -> Pool {
    connect(address, size).unwrap()
}
