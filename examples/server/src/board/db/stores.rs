//! What the API keeps beside the board: in the same database.

use forum_api::host::Result;
use forum_api::store::{SchemaStatus, Stores, Webhooks, postgres};

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

    /// Checks that it can be written to, with a small write.
    pub async fn check_writable(&self) -> Result<()> {
        match self {
            Self::Sqlite(database) => Ok(database.check_writable().await?),
            Self::Postgres(line) => Ok(postgres::check_writable(&line.pool).await?),
        }
    }

    /// Compares the library's tables with those that this program needs.
    pub async fn library_schema_status(&self) -> Result<SchemaStatus> {
        match self {
            Self::Sqlite(database) => Ok(database.schema_status().await?),
            Self::Postgres(line) => Ok(postgres::schema_status(&line.pool).await?),
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
