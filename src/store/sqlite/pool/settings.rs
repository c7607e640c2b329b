//! Settings of a database.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

/// Settings of a [`Database`](super::Database). All have defaults.
///
/// ```
/// use forum_api::store::sqlite::{Database, DatabasePath, DatabaseSettings};
///
/// # fn main() -> Result<(), forum_api::store::sqlite::SqliteError> {
/// let mut settings = DatabaseSettings::default();
/// settings.readers = 4;
/// let database = Database::open_with(&DatabasePath::Memory, &settings)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseSettings {
    /// Number of threads for ordinary reads; 0 and 1 count as 2. All but one of them also run long reads. One more thread
    /// serves only short reads. A database in memory has no reader threads. Default: the number of cores.
    pub readers: usize,
    /// Page cache of each connection, in KiB. Each reader thread and the writer have a connection. Default: 32,768 (32 MiB).
    pub cache_kib: u32,
    /// Maximum number of waiting operations in each queue: short, ordinary and long reads, writes, and background writes.
    /// Further operations fail with [`OverloadedError`](crate::host::OverloadedError). Default: 1,024.
    pub queue_capacity: usize,
    /// Time that a write waits for its turn. Afterwards it fails with [`OverloadedError`](crate::host::OverloadedError), and
    /// does not run. Background writes wait without a limit; so do all writes with [`Duration::MAX`]. Default: 10 s.
    pub turn_timeout: Duration,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self {
            readers: thread::available_parallelism().map_or(1, NonZero::get),
            cache_kib: 32 * 1024,
            queue_capacity: 1024,
            turn_timeout: Duration::from_secs(10),
        }
    }
}
