//! Settings of a database.

use std::num::NonZero;
use std::thread;

/// Settings of a [`Database`](super::Database).
///
/// ```
/// use forum_api::store::sqlite::{Database, DatabaseSettings, Location};
///
/// # fn main() -> Result<(), forum_api::store::sqlite::SqliteError> {
/// let settings = DatabaseSettings { readers: 4, ..DatabaseSettings::default() };
/// let database = Database::open_with(&Location::Memory, &settings)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// Number of threads for ordinary reads, at least 1. One more thread serves short reads only. By default the number
    /// of cores. A database in memory has no reader threads.
    pub readers: usize,
    /// Page cache of each connection, in KiB; there is a connection for each reader and one for the writer. By default
    /// 32,768 (32 MiB).
    pub cache_kib: u32,
    /// Number of operations that can wait in each queue: short reads, ordinary reads, writes, and background writes. An
    /// operation beyond that fails with [`Overloaded`](crate::store::Overloaded). By default 1,024.
    pub queue_capacity: usize,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self {
            readers: thread::available_parallelism().map_or(1, NonZero::get),
            cache_kib: 32 * 1024,
            queue_capacity: 1024,
        }
    }
}
