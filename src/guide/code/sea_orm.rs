//! The stores on the Postgres pool of sea-orm 1 or 2, and commands in transactions of sea-orm. Uses `sqlx.rs`.
//!
//! In sea-orm 2, `ConnectionTrait::execute` is `execute_raw`.

use forum_api::async_trait;
use forum_api::host::BoardResult;
use forum_api::store::postgres::{PostgresError, migration_scripts};
use forum_api::webhook::Event;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, RuntimeErr, SqlxPostgresConnector,
    Statement, TransactionTrait,
};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use super::sqlx::{SqlxDriver, pool_options};

/// Returns a connection to Postgres with the options of the pool in `sqlx.rs`; any other connection of sea-orm to Postgres can
/// be used as well. A server that cannot be reached is an error of the first statement.
pub fn connect(url: &str, size: u32) -> Result<DatabaseConnection, PostgresError> {
    let opened = pool_options().max_connections(size).connect_lazy(url);
    let pool = opened.map_err(super::sqlx::without_values)?;
    Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(pool))
}

/// Returns the driver of the stores for the pool of a connection to Postgres.
pub fn driver(database: &DatabaseConnection) -> SqlxDriver {
    SqlxDriver::new(database.get_postgres_connection_pool().clone())
}

/// Returns the migrations of the library's tables, which `MigratorTrait::migrations` appends to those of the board. A version
/// of the library with new migrations returns more. They have no `down`: `fresh` of sea-orm creates the tables again, and
/// `down`, `reset` and `refresh` fail.
pub fn forum_api_migrations() -> Vec<Box<dyn MigrationTrait>> {
    let mut migrations: Vec<Box<dyn MigrationTrait>> = Vec::new();
    for script in migration_scripts() {
        let name = format!("forum_api_{}", script.name);
        migrations.push(Box::new(ForumApiMigration { name, sql: script.sql }));
    }
    migrations
}

struct ForumApiMigration {
    name: String,
    sql: String,
}

impl MigrationName for ForumApiMigration {
    fn name(&self) -> &str {
        &self.name
    }
}

#[async_trait]
impl MigrationTrait for ForumApiMigration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(&self.sql).await?;
        Ok(())
    }
}

/// Returns the error of a statement. Its text, which the log shows, has no values of parameters and rows. `?` converts the
/// result to an error of the board.
pub fn without_values(error: DbErr) -> PostgresError {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => super::sqlx::without_values(error),
        DbErr::ConnectionAcquire(_) => PostgresError::not_run("no connection to Postgres is free"),
        _ => PostgresError::unusable("sea-orm cannot run a statement or decode a row"),
    }
}

/// Writes a post and its event in one transaction, which an error rolls back.
pub async fn create_post(
    database: &DatabaseConnection,
    body: &str,
    event: &Event,
) -> BoardResult<()> {
    // Before the `COMMIT`, an error has no effect: if it is temporary, the client gets a 503 and repeats the request.
    let before_commit = |error: DbErr| without_values(error).without_effect();
    let transaction = database.begin().await.map_err(before_commit)?;
    let insert = "INSERT INTO post (body) VALUES ($1)";
    let post = Statement::from_sql_and_values(DbBackend::Postgres, insert, [body.into()]);
    transaction.execute(post).await.map_err(before_commit)?;
    let parameters = event.insert_parameters().into_iter().map(Into::into);
    let row = Statement::from_sql_and_values(DbBackend::Postgres, Event::INSERT_SQL, parameters);
    transaction.execute(row).await.map_err(before_commit)?;
    Ok(transaction.commit().await.map_err(without_values)?)
}
