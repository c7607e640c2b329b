//! Webhooks in SQLite.

mod claim;
mod deliveries;
mod endpoints;
mod list;
mod outbox;
#[cfg(test)]
mod plans;
mod queue;
mod settle;
mod sweep;
mod usage;

use rusqlite::{Connection, Result, Row};

use super::Database;
use crate::error::{Fault, Stored};
use crate::store::report_unreadable;

/// Events, endpoints and deliveries in the tables `forum_api_events`, `forum_api_endpoints`, `forum_api_deliveries`
/// and `forum_api_attempts`.
#[derive(Clone, Debug)]
pub struct SqliteWebhooks(Database);

impl SqliteWebhooks {
    /// Webhooks in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }

    async fn read<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Stored<T> {
        let run = |connection: &Connection| run(connection).map_err(Fault::from);
        self.0.read(run).await
    }

    /// Whoever writes on the board goes ahead.
    async fn write<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Stored<T> {
        self.0.write_behind(|savepoint| Ok(run(savepoint)?)).await
    }
}

/// The decoded row; `None`, with a report, when it cannot be decoded.
fn readable<T>(table: &'static str, row: &Row<'_>, decoded: Result<T>) -> Result<Option<T>> {
    match decoded {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            report_unreadable(table, &outbox::text(row, "id")?, &error.to_string());
            Ok(None)
        }
    }
}
