//! Schema migrations in SQLite: the migrations of the library, and functions for hosts.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::{Database, DatabasePath, DatabaseSettings, SqliteError};
use crate::store::sqlite_schema::MIGRATIONS;
use crate::store::{MigrationError, Migrations, SchemaStatus};

impl Database {
    /// Opens a database with default settings, creates or migrates the library's tables, and starts the threads. Blocks
    /// the calling thread until the threads have started.
    ///
    /// # Errors
    /// [`SqliteError`] if the database cannot be used, has another encoding than UTF-8 or is locked for more than 10 s, a
    /// migration fails, or the applied migrations do not match the program's ([`MigrationError`]).
    pub fn open(path: &DatabasePath) -> Result<Self, SqliteError> {
        Self::open_with(path, &DatabaseSettings::default())
    }

    /// Opens a database as [`open`](Self::open) does, with these settings.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(
        path: &DatabasePath,
        settings: &DatabaseSettings,
    ) -> Result<Self, SqliteError> {
        let migrate = |writer: &Connection| apply_migrations(writer, &MIGRATIONS).map(drop);
        Self::start(path, settings, migrate)
    }

    /// Opens a database as [`open`](Self::open) does, without migrations. Check [`schema_status`](Self::schema_status)
    /// before you use the library's tables.
    ///
    /// # Errors
    /// [`SqliteError`] if the database cannot be used, has another encoding than UTF-8 or is locked for more than 10 s.
    pub fn open_unmigrated(path: &DatabasePath) -> Result<Self, SqliteError> {
        Self::start(path, &DatabaseSettings::default(), |_| Ok(()))
    }

    /// Compares the applied migrations of the library's tables with the program's. Changes nothing.
    ///
    /// # Errors
    /// [`SqliteError`] if the database cannot be read, or an applied migration differs from the program's migration at
    /// the same position.
    pub async fn schema_status(&self) -> Result<SchemaStatus, SqliteError> {
        self.read_short(|connection| migration_status(connection, &MIGRATIONS)).await
    }

    /// Creates or migrates the library's tables.
    ///
    /// # Errors
    /// [`SqliteError`] if a migration fails, or the applied migrations do not match the program's.
    pub async fn migrate(&self) -> Result<(), SqliteError> {
        self.write(|savepoint| apply_migrations(savepoint, &MIGRATIONS).map(drop)).await
    }
}

/// Applies the missing migrations. Returns the number of migrations that were applied before: 0 for a new database.
///
/// If a transaction is open on the connection, it must be a write transaction, such as the one of [`Database::write`], and
/// the migrations are applied in it. Otherwise this function runs its own transaction. Several processes can call it at
/// the same time.
///
/// # Errors
/// [`SqliteError`] if a migration fails, or the applied migrations do not match the program's ([`MigrationError`]). On
/// an error, roll back the transaction if you opened it. The function rolls back its own transaction.
pub fn apply_migrations(
    connection: &Connection,
    migrations: &Migrations,
) -> Result<u32, SqliteError> {
    if !connection.is_autocommit() {
        return apply(connection, migrations);
    }
    // An up-to-date database is not locked for writing.
    let before = applied(connection, migrations)?;
    if migrations.pending_sql(&before)?.is_empty() {
        return Ok(count(&before));
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let before = apply(&transaction, migrations)?;
    transaction.commit()?;
    Ok(before)
}

/// Compares the migrations of a database with the program's. Changes nothing.
///
/// # Errors
/// [`SqliteError`] if the database cannot be read, or an applied migration differs from the program's migration at the
/// same position.
pub fn migration_status(
    connection: &Connection,
    migrations: &Migrations,
) -> Result<SchemaStatus, SqliteError> {
    Ok(migrations.status(&applied(connection, migrations)?)?)
}

fn apply(connection: &Connection, migrations: &Migrations) -> Result<u32, SqliteError> {
    let before = applied(connection, migrations)?;
    connection.execute_batch(&migrations.pending_sql(&before)?)?;
    Ok(count(&before))
}

fn applied(
    connection: &Connection,
    migrations: &Migrations,
) -> rusqlite::Result<Vec<(String, String)>> {
    let find = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let table = connection.query_row(find, [migrations.table], |_| Ok(()));
    if table.optional()?.is_none() {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare(&migrations.applied_sql())?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn count(applied: &[(String, String)]) -> u32 {
    u32::try_from(applied.len()).unwrap_or(u32::MAX)
}

impl From<MigrationError> for SqliteError {
    fn from(error: MigrationError) -> Self {
        Self::unusable(error)
    }
}
