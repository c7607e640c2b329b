//! Reading and writing of a copy in Postgres.

use std::future::ready;
use std::pin::pin;

use deadpool_postgres::{Client, Transaction};
use forum_api::audit::AuditEntry;
use forum_api::host::BackendResult;
use forum_api::store::postgres;
use forum_api::store::postgres::tokio_postgres_0_7::apply_migrations;
use futures_util::{Stream, TryStreamExt};
use tokio::sync::mpsc;
use tokio_postgres::IsolationLevel;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::progress::Progress;
use super::row::{Batches, Checksum, Row};
use super::tables::{IS_OFFLINE, LEFT_OUT, TAKE_OFFLINE, Table};

use crate::board::schema;

/// Removes the timeouts of the connection's statements for this transaction.
const WITHOUT_TIMEOUTS: &str = "
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0";

/// Settings for writing many rows: the search index is built after them. Postgres builds the index of words faster with
/// this memory than with 128 MB, because more of the memory is in the caches of the processor.
const WRITE_IN_BULK: &str = "
    SET LOCAL board.together = on;
    SET LOCAL maintenance_work_mem = '32MB'";

/// Waits up to 5 s until no other copy writes the target. The transaction of a killed copy ends within a second,
/// because Postgres on Linux then checks during a statement whether the client is connected. A running copy exceeds the
/// timeout.
const LOCK_TARGET: &str = "
    DO $$ BEGIN
        PERFORM set_config('client_connection_check_interval', '100ms', TRUE);
    EXCEPTION WHEN OTHERS THEN NULL;
    END $$;
    SET LOCAL lock_timeout = '5s';
    SELECT pg_advisory_xact_lock(hashtextextended('forum-server copy', 0));
    SET LOCAL lock_timeout = 0";

/// Selects a table, view or type in the current schema that does not belong to an extension, first a table of the board.
/// Each table and each view has a type of the same name.
const FIND_CONTENT: &str = "
    SELECT
        typname,
        CASE WHEN relkind IN ('r', 'p', 'f') THEN 'table' WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'type' END AS kind
    FROM pg_type LEFT JOIN pg_class ON pg_class.oid = typrelid
    WHERE typnamespace = current_schema()::regnamespace AND typcategory <> 'A' AND relkind IS DISTINCT FROM 'S'
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid IN (pg_type.oid, typrelid) AND deptype = 'e')
    ORDER BY typname = 'board_migrations' DESC, kind, typname LIMIT 1";

const FIND_COLUMNS: &str = "
    SELECT relname, attname, atttypid, attidentity <> '' AS is_identity
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ORDER BY relname, attnum";

/// Selects the statements that remove and create the foreign keys and the indexes, except those of primary keys and
/// unique constraints.
///
/// Statements that remove foreign keys are first, because a foreign key depends on an index.
const FIND_INDEXES: &str = "
    SELECT
        format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS remove,
        format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
            AS create_again,
        1 AS place
    FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND contype = 'f'
    UNION ALL
    SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid), 2
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE relnamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
    ORDER BY place";

/// Several processes of Postgres compute the rows of the temporary table. Postgres does not compute those of an `INSERT`
/// in parallel.
const INDEX_POSTS: &str = "
    SET LOCAL parallel_setup_cost = 0;
    SET LOCAL parallel_tuple_cost = 0;
    CREATE TEMPORARY TABLE copied_post_text AS SELECT * FROM indexed_post;
    INSERT INTO post_text SELECT * FROM copied_post_text ORDER BY post_id;
    DROP TABLE copied_post_text";

/// Creates the tables in an empty database. Returns the reason if the database cannot be the target of a copy.
pub async fn begin_target(tx: &Transaction<'_>) -> BackendResult<Option<String>> {
    tx.batch_execute(WITHOUT_TIMEOUTS).await?;
    if let Err(error) = tx.batch_execute(LOCK_TARGET).await {
        return match error.code() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Ok(Some("another copy writes the target".into()))
            }
            _ => Err(error.into()),
        };
    }
    if let Some(row) = tx.query_opt(FIND_CONTENT, &[]).await? {
        let kind: &str = row.try_get("kind")?;
        return Ok(Some(match row.try_get("typname")? {
            "board_migrations" if kind == "table" => HOLDS_BOARD.into(),
            name => format!("the target is not empty: it contains the {kind} \"{name}\""),
        }));
    }
    for migrations in [&postgres::MIGRATIONS, &schema::POSTGRES] {
        // Another process that creates a board at the same time is waited for.
        if apply_migrations(&**tx, migrations).await? > 0 {
            return Ok(Some(HOLDS_BOARD.into()));
        }
    }
    tx.batch_execute(WRITE_IN_BULK).await?;
    Ok(None)
}

/// Positions are numbers of transactions. Those that this cluster has not assigned yet are of another cluster or of SQLite.
/// A worker makes them negative.
const IS_FEED_MOVING: &str = "
    WITH next AS (
        SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS position
    )
    SELECT EXISTS (SELECT FROM forum_api_feed_move)
        OR EXISTS (SELECT FROM forum_api_events WHERE in_feed AND position >= (SELECT position FROM next))
        AND EXISTS (
            SELECT FROM forum_api_events WHERE in_feed AND position >= 0 AND position < (SELECT position FROM next)
        ) AS is_moving";

const HOLDS_BOARD: &str = "the target contains a board already";

/// Begins a read of the current state. Returns whether the board is offline.
pub async fn begin_source(client: &mut Client) -> BackendResult<(Transaction<'_>, bool)> {
    let tx = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    tx.batch_execute(WITHOUT_TIMEOUTS).await?;
    let is_offline = tx.query_one(IS_OFFLINE, &[]).await?.try_get("is_offline")?;
    Ok((tx, is_offline))
}

/// Returns whether a worker still has to move events of another cluster or of SQLite before the events of this cluster.
/// Until then, later events can precede earlier ones in the order of positions, which SQLite would keep.
pub async fn is_feed_moving(tx: &Transaction<'_>) -> BackendResult<bool> {
    Ok(tx.query_one(IS_FEED_MOVING, &[]).await?.try_get("is_moving")?)
}

/// Returns all tables of the schema, except those that are not copied.
pub async fn tables(tx: &Transaction<'_>) -> BackendResult<Vec<Table>> {
    let mut found: Vec<Table> = Vec::new();
    for row in tx.query(FIND_COLUMNS, &[]).await? {
        let name: String = row.try_get("relname")?;
        let column: String = row.try_get("attname")?;
        let kind = Type::from_oid(row.try_get("atttypid")?).unwrap_or(Type::UNKNOWN);
        let identity = row.try_get::<_, bool>("is_identity")?.then(|| column.clone());
        if LEFT_OUT.contains(&&*name) {
            continue;
        }
        match found.last_mut().filter(|table| table.name == name) {
            Some(table) => {
                table.columns.push((column, kind));
                table.identity = table.identity.take().or(identity);
            }
            None => found.push(Table { name, columns: vec![(column, kind)], identity }),
        }
    }
    Ok(found)
}

/// Returns the number of rows of all tables.
pub async fn count(tx: &Transaction<'_>, tables: &[Table]) -> BackendResult<u64> {
    let mut all = 0;
    for table in tables {
        let sql = format!("SELECT count(*) AS count FROM {}", table.quoted_name());
        all += tx.query_one(&sql, &[]).await?.try_get::<_, i64>("count")?;
    }
    Ok(all.unsigned_abs())
}

/// Returns the largest id that the sequence of a table has generated.
pub async fn last_id(tx: &Transaction<'_>, table: &Table) -> BackendResult<Option<i64>> {
    let Some(identity) = &table.identity else {
        return Ok(None);
    };
    let find = "SELECT pg_sequence_last_value(pg_get_serial_sequence(quote_ident($1), $2)::regclass) AS last";
    Ok(tx.query_one(find, &[&table.name, identity]).await?.try_get("last")?)
}

/// Continues the ids of a table after its largest id, and after `last_id`.
pub async fn set_sequence(
    tx: &Transaction<'_>,
    table: &Table,
    last_id: Option<i64>,
) -> BackendResult<()> {
    if let (Some(identity), Some(last_id)) = (&table.identity, last_id) {
        let set = "SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), $3)";
        tx.execute(set, &[&table.name, identity, &last_id]).await?;
    }
    Ok(())
}

/// Reads the rows of a table.
async fn read_rows(
    tx: &Transaction<'_>,
    table: &Table,
) -> BackendResult<impl Stream<Item = Result<Row, tokio_postgres::Error>>> {
    let name = table.quoted_name();
    let columns = table.column_list();
    let sql = format!("COPY {name} ({columns}) TO STDOUT (FORMAT binary)");
    let stream = tx.copy_out(&sql).await?;
    let rows = BinaryCopyOutStream::new(stream, &types(table));
    let width = table.columns.len();
    Ok(rows.and_then(move |row| ready((0..width).map(|place| row.try_get(place)).collect())))
}

/// Sends all rows of a table, unless the receiver is gone. Returns their checksum.
pub async fn read_batches(
    tx: &Transaction<'_>,
    table: &Table,
    sender: mpsc::Sender<Vec<Row>>,
    progress: &Progress,
) -> BackendResult<Checksum> {
    let mut rows = pin!(read_rows(tx, table).await?);
    let mut batches = Batches::default();
    while let Some(row) = rows.try_next().await? {
        progress.advance(1);
        if let Some(batch) = batches.add(row)
            && sender.send(batch).await.is_err()
        {
            break;
        }
    }
    let (last, checksum) = batches.finish();
    // The error of the writer is reported if the receiver is gone.
    sender.send(last).await.ok();
    Ok(checksum)
}

pub async fn checksum(
    tx: &Transaction<'_>,
    table: &Table,
    progress: &Progress,
) -> BackendResult<Checksum> {
    let mut rows = pin!(read_rows(tx, table).await?);
    let mut sum = Checksum::default();
    while let Some(row) = rows.try_next().await? {
        sum.add(&row);
        progress.advance(1);
    }
    Ok(sum)
}

/// Writes all rows of a table.
pub async fn write(
    tx: &Transaction<'_>,
    table: &Table,
    mut batches: mpsc::Receiver<Vec<Row>>,
    progress: &Progress,
) -> BackendResult<()> {
    let name = table.quoted_name();
    let columns = table.column_list();
    let sql = format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary, FREEZE)");
    let sink = tx.copy_in(&sql).await?;
    let mut copy = pin!(BinaryCopyInWriter::new(sink, &types(table)));
    while let Some(batch) = batches.recv().await {
        for row in &batch {
            let values = row.iter().map(|value| value as &(dyn ToSql + Sync));
            copy.as_mut().write(&values.collect::<Vec<_>>()).await?;
        }
        progress.advance(batch.len() as u64);
    }
    copy.finish().await?;
    Ok(())
}

fn types(table: &Table) -> Vec<Type> {
    table.columns.iter().map(|(_, kind)| kind.clone()).collect()
}

/// Removes the indexes and the foreign keys. Returns the statements that create them.
pub async fn drop_indexes(tx: &Transaction<'_>) -> BackendResult<Vec<String>> {
    let mut create = Vec::new();
    let mut drop = String::new();
    for row in tx.query(FIND_INDEXES, &[]).await? {
        drop += row.try_get("remove")?;
        drop += ";";
        create.push(row.try_get("create_again")?);
    }
    tx.batch_execute(&drop).await?;
    Ok(create)
}

/// Indexes the posts for the search, and creates the indexes and the foreign keys.
pub async fn build_indexes(tx: &Transaction<'_>, indexes: &[String]) -> BackendResult<()> {
    tx.batch_execute(INDEX_POSTS).await?;
    for index in indexes {
        tx.batch_execute(index).await?;
    }
    Ok(())
}

/// Takes the copy offline, writes the entry of the audit log and updates the statistics.
pub async fn finish(tx: &Transaction<'_>, entry: &AuditEntry) -> BackendResult<()> {
    tx.batch_execute(TAKE_OFFLINE).await?;
    let texts = entry.insert_parameters(1);
    let parameters: Vec<_> = texts.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
    tx.execute(AuditEntry::INSERT_SQL, &parameters).await?;
    Ok(tx.batch_execute("ANALYZE").await?)
}
