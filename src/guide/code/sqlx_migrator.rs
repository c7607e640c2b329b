//! The migrations of the library's tables in the migrator of sqlx 0.9.
//!
//! Each program that migrates the database must then use this migrator: a migrator without the migrations of the library, such
//! as `sqlx migrate run`, refuses the database with `VersionMissing`.

use forum_api::store::postgres::migration_scripts;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

/// Added to the number of a script, the version of its migration. It is above the versions of the board, also if these are
/// times such as 20260101120000, so that both increase independently.
const VERSIONS: i64 = 1_000_000_000_000_000;

/// Adds the migrations of the library to the migrator of the board, such as `sqlx::migrate!()`. A version of the library with
/// new migrations adds some, and changes none.
pub fn with_forum_api(mut board: Migrator) -> Migrator {
    let library = migration_scripts().into_iter().map(|script| {
        let version = VERSIONS + i64::from(script.number);
        let description = format!("forum_api {}", script.name).into();
        let sql = AssertSqlSafe(script.sql).into_sql_str();
        Migration::new(version, description, MigrationType::Simple, sql, false)
    });
    let migrations = board.iter().cloned().chain(library).collect();
    // The settings of the board stay. With another table of migrations, its migrations would run again. sqlx does not document
    // the field.
    board.migrations = Migrator::with_migrations(migrations).migrations;
    board
}
