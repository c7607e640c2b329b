//! Migrations of tables in SQLite, and the library's own.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::{Database, DatabasePath, DatabaseSettings, SqliteError};
use crate::store::migrations::Applied;
use crate::store::{Migration, MigrationError, Migrations, SchemaStatus};

/// Migrations of the library's tables.
pub(super) const LIBRARY: Migrations = Migrations {
    table: "forum_api_migrations",
    all: &[Migration {
        name: "0001_init",
        sql: include_str!("migrations/0001_init.sql"),
    }],
};

impl Database {
    /// Opens a database, creates or migrates the library's own tables in it, and starts the threads. It blocks the
    /// calling thread until that is done.
    ///
    /// # Errors
    /// When the database cannot be used, it is locked for longer than 5 s, a migration fails, or the applied ones are not
    /// this program's ([`MigrationError`]).
    pub fn open(location: &DatabasePath) -> Result<Self, SqliteError> {
        Self::open_with(location, &DatabaseSettings::default())
    }

    /// As [`open`](Self::open), with other settings than the default ones.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(
        location: &DatabasePath,
        settings: &DatabaseSettings,
    ) -> Result<Self, SqliteError> {
        let migrate = |writer: &Connection| migrate(writer, &LIBRARY).map(drop);
        Self::start(location, settings, migrate)
    }

    /// Opens a database as [`open`](Self::open) does, and leaves the library's own tables as they are. The caller checks
    /// [`schema_status`](Self::schema_status) before it uses them.
    ///
    /// # Errors
    /// When the database cannot be used, or it is locked for longer than 5 s.
    pub fn open_unmigrated(location: &DatabasePath) -> Result<Self, SqliteError> {
        Self::start(location, &DatabaseSettings::default(), |_| Ok(()))
    }

    /// Compares the library's own tables with those that [`migrate`](Self::migrate) would create. Changes nothing.
    ///
    /// # Errors
    /// When the database cannot be read, or an applied migration is not this program's.
    pub async fn schema_status(&self) -> Result<SchemaStatus, SqliteError> {
        self.read_short(|connection| schema_status(connection, &LIBRARY))
            .await
    }

    /// Creates or migrates the library's own tables.
    ///
    /// # Errors
    /// When a migration fails, or the applied ones are not this program's.
    pub async fn migrate(&self) -> Result<(), SqliteError> {
        self.write(|savepoint| migrate(savepoint, &LIBRARY).map(drop))
            .await
    }
}

/// Applies the migrations that the database lacks, and returns how many it had: 0 for a new one.
///
/// Everything happens in one transaction: that of the connection (which must be able to write, as that of
/// [`Database::write`] is), or a new one. So several processes may migrate at once.
///
/// # Errors
/// When a migration fails, or the applied ones are not this program's ([`MigrationError`]). Then nothing is applied.
pub fn migrate(connection: &Connection, migrations: &Migrations) -> Result<u32, SqliteError> {
    if !connection.is_autocommit() {
        return apply(connection, migrations);
    }
    // A database that is up to date is not locked for writing.
    let had = applied(connection, migrations)?;
    if migrations.missing(&had)?.is_empty() {
        return Ok(count(&had));
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let had = apply(&transaction, migrations)?;
    transaction.commit()?;
    Ok(had)
}

/// Compares the migrations of a database with the program's, which [`migrate`] would apply. Changes nothing.
///
/// # Errors
/// When the database cannot be read, or an applied migration is not this program's.
pub fn schema_status(
    connection: &Connection,
    migrations: &Migrations,
) -> Result<SchemaStatus, SqliteError> {
    Ok(migrations.status(&applied(connection, migrations)?)?)
}

fn apply(connection: &Connection, migrations: &Migrations) -> Result<u32, SqliteError> {
    let had = applied(connection, migrations)?;
    connection.execute_batch(&migrations.missing(&had)?)?;
    Ok(count(&had))
}

fn applied(connection: &Connection, migrations: &Migrations) -> rusqlite::Result<Vec<Applied>> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let exists = connection.query_row(exists, [migrations.table], |_| Ok(()));
    if exists.optional()?.is_none() {
        return Ok(Vec::new());
    }
    let mut rows = connection.prepare(&migrations.applied())?;
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn count(applied: &[Applied]) -> u32 {
    u32::try_from(applied.len()).unwrap_or(u32::MAX)
}

impl From<MigrationError> for SqliteError {
    fn from(error: MigrationError) -> Self {
        Self::unusable(error)
    }
}
