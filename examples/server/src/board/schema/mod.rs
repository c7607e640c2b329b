//! The board's tables: migrations for each backend.

use forum_api::host::BoardResult;
use forum_api::store::postgres::{self, apply_migrations, migration_status};
use forum_api::store::{Migration, Migrations, SchemaStatus, sqlite, sqlite_schema};

use super::db::{self, Connection, Driver, Transaction, bind};

/// Name of the table that records the applied migrations.
const TABLE: &str = "board_migrations";

const SQLITE: Migrations = Migrations {
    table: TABLE,
    all: &[
        Migration {
            name: "0001_init",
            sql: include_str!("sqlite/0001_init.sql"),
        },
        Migration {
            name: "0002_in_reply_to",
            sql: include_str!("sqlite/0002_in_reply_to.sql"),
        },
        Migration {
            name: "0003_recent_posts",
            sql: include_str!("sqlite/0003_recent_posts.sql"),
        },
    ],
};

const POSTGRES: Migrations = Migrations {
    table: TABLE,
    all: &[
        Migration {
            name: "0001_init",
            sql: include_str!("postgres/0001_init.sql"),
        },
        Migration {
            name: "0002_in_reply_to",
            sql: include_str!("postgres/0002_in_reply_to.sql"),
        },
        Migration {
            name: "0003_post_index",
            sql: include_str!("postgres/0003_post_index.sql"),
        },
        Migration {
            name: "0004_recent_posts",
            sql: include_str!("postgres/0004_recent_posts.sql"),
        },
        Migration {
            name: "0005_search_spans",
            sql: include_str!("postgres/0005_search_spans.sql"),
        },
        Migration {
            name: "0006_index_new_posts",
            sql: include_str!("postgres/0006_index_new_posts.sql"),
        },
    ],
};

/// Returns whether the database has a board.
pub async fn exists(connection: &Connection<'_>) -> db::DbResult<bool> {
    has_table(connection, TABLE).await
}

async fn has_table(connection: &Connection<'_>, table: &'static str) -> db::DbResult<bool> {
    let find = connection.dialect(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)",
        "SELECT to_regclass(?1) IS NOT NULL",
    );
    connection.one(find, bind![table], |row| row.value()).await
}

/// Returns the names of the pending migrations of the library's and the board's tables.
pub async fn pending(connection: &Connection<'_>) -> db::DbResult<Vec<String>> {
    let (library, board) = match connection.driver {
        Driver::Sqlite(_) => (sqlite_schema::MIGRATIONS, SQLITE),
        Driver::Postgres(_) => (postgres::MIGRATIONS, POSTGRES),
    };
    let mut names = Vec::new();
    for (owner, migrations, count) in [
        (
            "library",
            library,
            "SELECT count(*) FROM forum_api_migrations",
        ),
        ("board", board, "SELECT count(*) FROM board_migrations"),
    ] {
        let applied = match has_table(connection, migrations.table).await? {
            true => connection.one(count, &[], |row| row.count()).await?,
            false => 0,
        };
        let pending = migrations.all.iter().skip(applied);
        names.extend(pending.map(|migration| format!("{owner} {}", migration.name)));
    }
    Ok(names)
}

/// Compares the migrations of the database with those of this program.
pub async fn status(connection: &Connection<'_>) -> db::DbResult<SchemaStatus> {
    Ok(match &connection.driver {
        Driver::Sqlite(sqlite) => sqlite::migration_status(sqlite, &SQLITE)?,
        Driver::Postgres(postgres) => migration_status(postgres.client(), &POSTGRES).await?,
    })
}

/// Applies the missing migrations. Returns the number of migrations that the database had before: 0 for a new one.
///
/// # Errors
/// If a migration fails, or the applied migrations are not those of this program. No migration is applied then.
pub async fn apply(tx: &Transaction<'_>) -> BoardResult<u32> {
    match &tx.driver {
        Driver::Sqlite(sqlite) => Ok(sqlite::apply_migrations(sqlite, &SQLITE)?),
        Driver::Postgres(postgres) => {
            let absent = db::DbError::Invalid("migrations are applied in a transaction");
            let transaction = postgres.migration().ok_or(absent)?;
            Ok(apply_migrations(transaction, &POSTGRES).await?)
        }
    }
}

/// The tables of a board, in SQLite.
#[cfg(test)]
pub fn in_memory() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    sqlite::apply_migrations(&connection, &SQLITE).unwrap();
    connection
}

#[cfg(test)]
mod tests {
    use super::{POSTGRES, SQLITE};

    /// Databases contain these checksums. A changed migration, even in a comment, is rejected at the next start.
    #[test]
    fn published_migrations_do_not_change() {
        for (migrations, checksums) in [
            (
                POSTGRES,
                vec![
                    "45d9e9a26ab72dc3b28b462470d6a031a8a0e6dc49ef53b223dee322c2398fa3",
                    "034f4e03914c57ec3b79ddf8107be406cd8b161a0ca57df49c0a542fbcb2c89e",
                    "62d97c8d8427e2694a9913af360ed69f78caf98cb0992f477addb98ec4808e13",
                    "0a7ccdd5c6560625c7520277467b84c702c7c1202ea5552bbe8add83896cac34",
                    "8728c73b4d1a41b206f4993561a4f5c600ed85919f19f0a7e657a522abc327a7",
                    "bf5b371668787b194cc9f3ed04b7ead90bd0798484914e629df7369284ccfd50",
                ],
            ),
            (
                SQLITE,
                vec![
                    "a16471b58dd38fd8d1b7ce057c4b1b13609d3ea6f66b681ccb8bb656826cb182",
                    "a30da338748d5aa9133f86237ca7f86e0a48d07d5aa21e084b3ce5362fad05f3",
                    "3ba2d4aabd838ecec0ecce0092d0ea27a75310c75a48b1aa280e602f6e7e5b5e",
                ],
            ),
        ] {
            assert_eq!(migrations.all.len(), checksums.len());
            for (migration, expected) in migrations.all.iter().zip(checksums) {
                assert_eq!(migration.checksum(), expected, "{}", migration.name);
            }
        }
    }
}
