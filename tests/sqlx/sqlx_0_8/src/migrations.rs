//! Migrations of the library's tables.

use forum_api::store::sqlite_schema::MIGRATIONS;
use sqlx::SqlitePool;

use crate::Result;

/// Creates or migrates the library's tables.
pub async fn migrate(pool: &SqlitePool) -> Result<()> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::raw_sql(&MIGRATIONS.create_table_sql())
        .execute(&mut *transaction)
        .await?;
    let applied: Vec<(String, String)> = sqlx::query_as(&MIGRATIONS.applied_sql())
        .fetch_all(&mut *transaction)
        .await?;
    let pending = MIGRATIONS.pending_sql(&applied)?;
    sqlx::raw_sql(&pending).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}
