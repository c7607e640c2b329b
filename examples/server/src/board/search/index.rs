//! Many posts at once into the index.

use forum_api::host::Result;
use rusqlite::config::DbConfig;

use super::super::db::{self, Connection, Transaction, bind};

/// Runs `write`, and puts the posts that it adds into the index together: one after the other, as the triggers do it,
/// they would take two or three times as long. It changes no post that is there.
pub async fn together(
    tx: &Transaction<'_>,
    write: impl Future<Output = Result<()>> + Send,
) -> Result<()> {
    let last = last_post(tx).await?;
    one_by_one(tx, false).await?;
    let written = write.await;
    let restored = one_by_one(tx, true).await;
    written?;
    restored?;
    let add = tx.either(
        "INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
         SELECT id, title, body, place, thread_id, forum_id FROM indexed_post WHERE id > ?1 ORDER BY id",
        "INSERT INTO post_text SELECT * FROM indexed_post WHERE post_id > ?1 ORDER BY post_id",
    );
    tx.change(add, bind![last]).await?;
    Ok(())
}

/// Has the triggers put posts into the index, or not.
async fn one_by_one(tx: &Transaction<'_>, one_by_one: bool) -> db::Result<()> {
    match &**tx {
        Connection::Sqlite(sqlite) => {
            sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, one_by_one)?;
            Ok(())
        }
        Connection::Postgres(_) if one_by_one => tx.run("SET LOCAL board.together = off").await,
        Connection::Postgres(_) => tx.run("SET LOCAL board.together = on").await,
    }
}

/// Lets Postgres know soon, after many posts were added, which words are common by now. Later it finds out by itself.
pub async fn learn(tx: &Transaction<'_>) -> db::Result<()> {
    tx.run(tx.either("", "SET LOCAL statement_timeout = 0; ANALYZE"))
        .await
}

async fn last_post(connection: &Connection<'_>) -> db::Result<i64> {
    let find = "SELECT coalesce(max(id), 0) FROM post";
    connection.one(find, &[], |columns| columns.value()).await
}
