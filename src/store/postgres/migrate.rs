//! Migrations of the library's tables through any driver.

use super::check::check_session;
use super::execute::{LeaseClock, PostgresExecutor};
use super::{MIGRATIONS, PostgresDriver, PostgresError};
use crate::store::SchemaStatus;
use crate::store::sql::Columns;

/// Selects whether the table `$1` exists.
const EXISTS: &str = "SELECT to_regclass($1) IS NOT NULL AS exists";

/// Checks the sessions of the driver ([`check_session`]), and creates or migrates the library's tables in the current
/// schema of the connection (the first existing one of its `search_path`). Several nodes can call it at the same time.
///
/// The pending migrations are one statement, to which the time limits of the session apply.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, the sessions cannot be used, a migration fails, or the applied migrations
/// do not match the program's ([`MigrationError`](crate::store::MigrationError)).
pub async fn migrate(driver: &(impl PostgresDriver + Clone)) -> Result<(), PostgresError> {
    check_session(driver).await?;
    let applied = applied(driver).await?;
    if MIGRATIONS.pending_sql(&applied)?.is_empty() {
        return Ok(());
    }
    let executor = PostgresExecutor::new(driver, LeaseClock::Database);
    executor.execute(&migration_sql(), &[]).await?;
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

/// Returns one SQL statement, without parameters, that creates the library's tables and applies the migrations that are not
/// applied. A second execution changes nothing. Executions in concurrent transactions wait for each other.
///
/// A host executes it in a migration of its own, and after an upgrade of the library with new migrations in a further one.
/// The changelog lists them. [`schema_status`] reports a missing one.
pub fn migration_sql() -> String {
    let table = MIGRATIONS.table;
    let mut sql = format!(
        "DO $forum_api$ BEGIN\nPERFORM pg_advisory_xact_lock(hashtextextended('{table}', 0));\n{}",
        MIGRATIONS.create_table_sql()
    );
    for (step, migration) in (1..).zip(MIGRATIONS.all) {
        let create = migration.sql;
        let insert = MIGRATIONS.insert_sql(step, migration);
        sql += &format!(
            "IF NOT EXISTS (SELECT FROM {table} WHERE step = {step}) THEN\n\
             EXECUTE $migration$\n{create}$migration$;\n{insert}END IF;\n"
        );
    }
    sql + "END $forum_api$"
}

async fn applied(
    driver: &(impl PostgresDriver + Clone),
) -> Result<Vec<(String, String)>, PostgresError> {
    let executor = PostgresExecutor::new(driver, LeaseClock::Database);
    let exists =
        executor.read(EXISTS, &[MIGRATIONS.table.into()], |row| row.value("exists")).await?;
    if !exists.contains(&true) {
        return Ok(Vec::new());
    }
    let read = |row: &dyn Columns| Ok((row.value("name")?, row.value("checksum")?));
    executor.read(&MIGRATIONS.applied_sql(), &[], read).await
}
