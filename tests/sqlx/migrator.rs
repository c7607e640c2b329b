//! A host whose migrator of sqlx creates the library's tables, in a new schema of the Postgres at `FORUM_API_POSTGRES`.

#[path = "../../src/guide/code/sqlx.rs"]
#[expect(dead_code, reason = "the program needs the driver alone")]
mod sqlx_guide;
#[path = "../../src/guide/code/sqlx_migrator.rs"]
mod sqlx_migrator;

use forum_api::store::SchemaStatus;
use forum_api::store::postgres::{migrate, schema_status};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

use crate::sqlx_guide::{SqlxDriver, pool_options};
use crate::sqlx_migrator::with_forum_api;

/// Returns the migrator of a board with a number of tables, and with a table of migrations that is not the default one.
fn board(tables: i64) -> Migrator {
    let migration = |number| {
        let sql = AssertSqlSafe(format!("CREATE TABLE board_{number} ()")).into_sql_str();
        let version = 20260101120000 + number;
        Migration::new(version, "board".into(), MigrationType::Simple, sql, false)
    };
    let mut board = Migrator::with_migrations((0..tables).map(migration).collect());
    board.dangerous_set_table_name("board_migrations");
    board
}

#[tokio::main]
async fn main() {
    let server = std::env::var("FORUM_API_POSTGRES").expect("FORUM_API_POSTGRES is set");
    for migrated_before in [false, true] {
        let schema = format!("migrator_{}_{migrated_before}", std::process::id());
        let pool = pool_options().connect(&server).await.unwrap();
        let create = AssertSqlSafe(format!("CREATE SCHEMA {schema}"));
        sqlx::raw_sql(create).execute(&pool).await.unwrap();

        let url = format!("{server}?options=-csearch_path%3D{schema}");
        let pool = pool_options().connect(&url).await.unwrap();
        let driver = SqlxDriver::new(pool.clone());
        if migrated_before {
            migrate(&driver).await.unwrap();
        }
        board(1).run(&pool).await.unwrap();
        // The first run has pending migrations of the library only, the second none, and the third one of the board, whose
        // version is below the library's.
        for tables in [1, 1, 2] {
            with_forum_api(board(tables)).run(&pool).await.unwrap();
            assert_eq!(schema_status(&driver).await.unwrap(), SchemaStatus::UpToDate);
        }
    }
    println!("{}: the migrator of sqlx creates the tables", env!("CARGO_PKG_NAME"));
}
