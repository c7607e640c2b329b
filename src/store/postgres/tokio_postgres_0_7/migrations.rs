//! Schema migrations in Postgres: the migrations of the library, and functions for hosts.

use deadpool_postgres::Pool;
use tokio_postgres::GenericClient;

use super::pooler::check_pooler;
use crate::store::postgres::check::{check_encoding, check_isolation};
use crate::store::postgres::{MIGRATIONS, PostgresError};
use crate::store::{Migrations, SchemaStatus};

/// Selects the settings that can differ in a host's own pool.
const SESSION: &str =
    "SELECT current_setting('server_encoding'), current_setting('default_transaction_isolation')";

/// Checks the [pooler](check_pooler), and creates or migrates the library's tables in the connection's current schema
/// (the first existing one of its `search_path`). Several nodes can call it at the same time. Its statements have no
/// timeout.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, the pooler or the database cannot be used, a migration fails, or the
/// applied migrations do not match the program's ([`MigrationError`](crate::store::MigrationError)).
pub async fn migrate(pool: &Pool) -> Result<(), PostgresError> {
    check_pooler(pool).await?;
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    let unlimited = "SET LOCAL statement_timeout = 0";
    transaction.batch_execute(unlimited).await?;
    apply_migrations(&*transaction, &MIGRATIONS).await?;
    Ok(transaction.commit().await?)
}

/// Applies the missing migrations in a transaction at the isolation level `READ COMMITTED`, which the caller has begun.
/// Returns the number of migrations that were applied before: 0 for a new database. Waits for other transactions that
/// apply migrations of the same table.
///
/// # Errors
/// [`PostgresError`] if the encoding of the database is not UTF8, the default isolation level of the connection is not
/// `READ COMMITTED`, a migration fails, or the applied migrations do not match the program's. On an error, roll back
/// the transaction.
pub async fn apply_migrations(
    transaction: &impl GenericClient,
    migrations: &Migrations,
) -> Result<u32, PostgresError> {
    let session = transaction.query_one(SESSION, &[]).await?;
    check_encoding(session.try_get(0)?)?;
    check_isolation(session.try_get(1)?)?;
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    transaction.query_one(lock, &[&migrations.table]).await?;
    let applied = applied(transaction, migrations).await?;
    let missing = migrations.pending_sql(&applied)?;
    transaction.batch_execute(&missing).await?;
    Ok(u32::try_from(applied.len()).unwrap_or(u32::MAX))
}

/// Compares the migrations of a database with the program's. Changes nothing.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, or an applied migration differs from the program's migration at the
/// same position.
pub async fn migration_status(
    client: &impl GenericClient,
    migrations: &Migrations,
) -> Result<SchemaStatus, PostgresError> {
    let applied = applied(client, migrations).await?;
    Ok(migrations.status(&applied)?)
}

async fn applied(
    client: &impl GenericClient,
    migrations: &Migrations,
) -> Result<Vec<(String, String)>, PostgresError> {
    let exists =
        client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&migrations.table]).await?;
    if !exists.try_get(0)? {
        return Ok(Vec::new());
    }
    let rows = client.query(&migrations.applied_sql(), &[]).await?;
    let row = |row: &tokio_postgres::Row| Ok((row.try_get(0)?, row.try_get(1)?));
    rows.iter().map(row).collect()
}
