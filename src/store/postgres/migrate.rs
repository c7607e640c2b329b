//! Migrations of the library's tables through any driver.

use super::check::check_session;
use super::execute::PostgresExecutor;
use super::{MIGRATIONS, PostgresDriver, PostgresError};
use crate::store::sql::Columns;
use crate::store::{MigrationScript, SchemaStatus};

/// Selects whether the table `$1` exists.
const EXISTS: &str = "SELECT to_regclass($1) IS NOT NULL AS exists";

/// Checks the sessions of the driver ([`check_session`]), and creates or migrates the library's tables in the current
/// schema of the connection (the first existing one of its `search_path`). Several nodes can call it at the same time.
///
/// Each pending migration is one statement in a transaction of its own, to which the time limits of the session apply.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, the sessions cannot be used, a migration fails, or the applied migrations
/// do not match the program's ([`MigrationError`](crate::store::MigrationError)).
pub async fn migrate(driver: &(impl PostgresDriver + Clone)) -> Result<(), PostgresError> {
    check_session(driver).await?;
    let applied = applied(driver).await?;
    MIGRATIONS.refuse_newer(&applied)?;
    let executor = PostgresExecutor::for_schema(driver);
    for script in migration_scripts().into_iter().skip(applied.len()) {
        executor.execute(script.sql, []).await?;
    }
    Ok(())
}

/// Compares the applied migrations of the library's tables with the program's. Changes nothing.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, or an applied migration differs from the program's migration at the
/// same position.
pub async fn schema_status(
    driver: &(impl PostgresDriver + Clone),
) -> Result<SchemaStatus, PostgresError> {
    Ok(MIGRATIONS.status(&applied(driver).await?)?)
}

/// Returns the migrations of the library's tables for the migrations of a host. Each script is one statement. It changes
/// nothing if its migration is applied, also by [`migrate`]. Executions in concurrent transactions wait for each other.
///
/// [`schema_status`] reports a script that was not executed.
pub fn migration_scripts() -> Vec<MigrationScript> {
    MIGRATIONS.postgres_scripts()
}

async fn applied(
    driver: &(impl PostgresDriver + Clone),
) -> Result<Vec<(String, String)>, PostgresError> {
    let executor = PostgresExecutor::for_schema(driver);
    let exists =
        executor.read(EXISTS, &[MIGRATIONS.table.into()], |row| row.value("exists")).await?;
    if !exists.contains(&true) {
        return Ok(Vec::new());
    }
    let read = |row: &dyn Columns| Ok((row.value("name")?, row.value("checksum")?));
    executor.read(&MIGRATIONS.applied_sql(), &[], read).await
}
