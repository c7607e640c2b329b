//! The board's tables, in the steps in which they came to be.

use forum_api::host::Result;

use super::db::{self, Connection, Database, Transaction, bind};

const SQLITE: &[&str] = &[
    include_str!("sqlite/1.sql"),
    include_str!("sqlite/2.sql"),
    include_str!("sqlite/3.sql"),
    include_str!("sqlite/4.sql"),
    include_str!("sqlite/5.sql"),
    include_str!("sqlite/6.sql"),
];

const POSTGRES: &[&str] = &[
    include_str!("postgres/1.sql"),
    include_str!("postgres/2.sql"),
    include_str!("postgres/3.sql"),
    include_str!("postgres/4.sql"),
];

/// Whether this database has a board.
pub async fn is_there(connection: &Connection<'_>) -> db::Result<bool> {
    let find = connection.either(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)",
        "SELECT to_regclass(?1) IS NOT NULL",
    );
    connection
        .one(find, bind!["board_migrations"], |columns| columns.value())
        .await
}

/// Brings the tables of a board up to date. A node of a later version may have done more already.
pub async fn migrate(database: &Database) -> Result<()> {
    let is_done = database.read(|connection| {
        Box::pin(async move {
            let had = match is_there(connection).await? {
                true => had(connection).await?,
                false => 0,
            };
            Ok(had >= steps(connection).len())
        })
    });
    if is_done.await? {
        return Ok(());
    }
    let apply = database.write(|tx| Box::pin(async move { Ok(apply(tx).await?) }));
    apply.await.map(drop)
}

/// Applies the steps that the database does not have yet, and gives how many it had: 0 for a new one. None takes too
/// long.
pub async fn apply(tx: &Transaction<'_>) -> db::Result<usize> {
    tx.run(tx.either("", "SET LOCAL statement_timeout = 0"))
        .await?;
    tx.run("CREATE TABLE IF NOT EXISTS board_migrations (step INTEGER PRIMARY KEY)")
        .await?;
    let had = had(tx).await?;
    for sql in steps(tx).iter().skip(had) {
        tx.run(sql).await?;
        let note = "INSERT INTO board_migrations (step) SELECT count(*) + 1 FROM board_migrations";
        tx.run(note).await?;
    }
    Ok(had)
}

fn steps(connection: &Connection<'_>) -> &'static [&'static str] {
    connection.either(SQLITE, POSTGRES)
}

async fn had(connection: &Connection<'_>) -> db::Result<usize> {
    let count = "SELECT count(*) FROM board_migrations";
    connection.one(count, &[], |columns| columns.count()).await
}

/// The tables of a board, in SQLite.
#[cfg(test)]
pub fn in_memory() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    SQLITE
        .iter()
        .for_each(|step| connection.execute_batch(step).unwrap());
    connection
}
