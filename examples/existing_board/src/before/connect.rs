//! The connection pool.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod, Runtime};
use tokio_postgres::NoTls;

pub use deadpool_postgres::Pool;

/// Creates a pool of up to eight connections.
pub fn connect(database: &str) -> Result<Pool, Box<dyn std::error::Error + Send + Sync>> {
    let fast = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(database.parse()?, NoTls, fast);
    let pool = Pool::builder(manager).max_size(8);
    // Added: without limits, a reply can be written long after its request was answered with an error.
    let limit = Some(Duration::from_secs(5));
    Ok(pool.runtime(Runtime::Tokio1).wait_timeout(limit).create_timeout(limit).build()?)
}
