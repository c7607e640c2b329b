//! Store of events, endpoints and deliveries.

use rusqlite::{Connection, Result};

use super::Database;
use crate::error::{BackendError, BackendResult};

/// Events, endpoints and deliveries in the tables `forum_api_events`, `forum_api_endpoints`, `forum_api_deliveries`
/// and `forum_api_attempts`.
#[derive(Clone, Debug)]
pub struct SqliteWebhookStore(Database);

impl SqliteWebhookStore {
    /// Creates a store in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> BackendResult<T> {
        let run = |connection: &Connection| run(connection).map_err(BackendError::from);
        self.0.read(run).await
    }

    /// Runs a write in the background, so that writes of the board precede it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> BackendResult<T> {
        self.0
            .write_background(|savepoint| Ok(run(savepoint)?))
            .await
    }
}
