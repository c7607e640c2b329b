//! Many posts at once into the index.

use forum_api::host::Result;
use rusqlite::config::DbConfig;

use super::super::db::{self, Connection, Transaction, bind};

/// Runs `write`, and puts the posts that it adds into the index together: one after the other, as SQLite's triggers do
/// it, they would take three times as long. It changes no post that is there.
pub async fn together(
    tx: &Transaction<'_>,
    write: impl Future<Output = Result<()>> + Send,
) -> Result<()> {
    let Connection::Sqlite(sqlite) = &**tx else {
        return write.await;
    };
    let last = last_post(tx).await?;
    sqlite_triggers(sqlite, false)?;
    let written = write.await;
    sqlite_triggers(sqlite, true)?;
    written?;
    let add = "
        INSERT INTO post_text (rowid, title, body, place)
        SELECT id, title, body, place FROM indexed_post WHERE id > ?1 ORDER BY id";
    tx.change(add, bind![last]).await?;
    Ok(())
}

/// Lets Postgres know soon, after many posts were added, which words are common by now. Later it finds out by itself.
pub async fn learn(tx: &Transaction<'_>) -> db::Result<()> {
    tx.run(tx.either("", "ANALYZE")).await
}

fn sqlite_triggers(connection: &rusqlite::Connection, on: bool) -> db::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, on)?;
    Ok(())
}

async fn last_post(connection: &Connection<'_>) -> db::Result<i64> {
    let find = "SELECT coalesce(max(id), 0) FROM post";
    connection.one(find, &[], |columns| columns.value()).await
}
