//! The connection pool.

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod};
use tokio_postgres::NoTls;

pub use deadpool_postgres::Pool;

/// Creates a pool of up to eight connections.
pub fn connect(database: &str) -> Result<Pool, Box<dyn std::error::Error + Send + Sync>> {
    let fast = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(database.parse()?, NoTls, fast);
    Ok(Pool::builder(manager).max_size(8).build()?)
}
