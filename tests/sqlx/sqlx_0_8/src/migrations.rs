//! Migrations of the library's tables.

use forum_api::store::sqlite_schema::MIGRATIONS;
use sqlx::{Executor, Row, SqlitePool};

use crate::Result;

/// Creates or migrates the library's tables.
pub async fn migrate(pool: &SqlitePool) -> Result<()> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let create_table = MIGRATIONS.create_table_sql();
    transaction.execute(create_table.as_str()).await?;
    let applied = MIGRATIONS.applied_sql();
    let rows = transaction.fetch_all(applied.as_str()).await?;
    let applied = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    let applied: Vec<(String, String)> = applied.collect::<Result<_>>()?;
    let pending = MIGRATIONS.pending_sql(&applied)?;
    transaction.execute(pending.as_str()).await?;
    Ok(transaction.commit().await?)
}
