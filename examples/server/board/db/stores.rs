//! What the API keeps beside the board: in the same database.

use forum_api::store::{Stores, Webhooks};

use super::Database;

impl Database {
    /// Tokens and keys of retried requests, and budgets in the node's memory.
    pub fn stores(&self) -> Stores {
        match self {
            Self::Sqlite(database) => Stores::in_sqlite(database),
            Self::Postgres(line) => Stores::in_postgres(&line.pool),
        }
    }

    /// Endpoints, and what is sent to them.
    pub fn webhooks(&self) -> Webhooks {
        match self {
            Self::Sqlite(database) => Webhooks::in_sqlite(database),
            Self::Postgres(line) => Webhooks::in_postgres(&line.pool),
        }
    }

    /// Ends its use, once all is written.
    pub async fn close(self) {
        match self {
            Self::Sqlite(database) => database.close().await,
            Self::Postgres(line) => line.pool.close(),
        }
    }
}
