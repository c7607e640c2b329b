//! Concurrency and timeouts of a board in Postgres.

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::board::db::{ReadKind, Writer};
use crate::postgres::Database;
use crate::prelude::*;

#[test]
fn readers_do_not_wait_for_writers() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let (end, ended) = watch::channel(false);
        let write = |_| hold_write(storage.database.clone(), ended.clone());
        let writes: JoinSet<_> = (0..20).map(write).collect();
        for _ in 0..100 {
            let found = storage
                .database
                .read(ReadKind::One, |connection| Box::pin(connection.any("SELECT 1", &[])))
                .await
                .unwrap();
            assert!(found);
        }
        end.send_replace(true);
        let written = writes.join_all().await;
        assert!(written.iter().all(Result::is_ok), "{written:?}");
    });
}

/// Holds a write transaction open until the end is signalled.
async fn hold_write(database: BoardDatabase, mut ended: watch::Receiver<bool>) -> BoardResult<()> {
    database
        .write(Writer::Operator, move |_| {
            Box::pin(async move {
                ended.wait_for(|is_over| *is_over).await.map(drop).map_err(BoardError::internal)
            })
        })
        .await
}

/// Drops a transaction that has sent its first statements and received no response.
#[test]
fn a_dropped_transaction_is_rolled_back() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let pool = storage.pool();
        pool.resize(1);
        drop(pool.get().await.unwrap());
        let begin = || storage.database.write(Writer::Operator, |tx| Box::pin(delete_sessions(tx)));
        // On a busy machine, all responses can arrive during the first poll.
        while let Some(written) = begin().now_or_never() {
            written.unwrap();
        }
        let client = pool.get().await.unwrap();
        // A transaction cannot run it.
        client.batch_execute("VACUUM session").await.unwrap();
    });
}

#[test]
fn a_transaction_with_a_failed_statement_is_not_committed() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let written = storage.database.write(Writer::Operator, |tx| {
            Box::pin(async move {
                let failed = tx.execute("DELETE FROM session WHERE 1 / 0 = 1", &[]).await;
                assert!(failed.is_err());
                Ok(())
            })
        });
        let error = format!("{:?}", written.await.unwrap_err());
        assert!(error.contains("a statement of the transaction has failed"), "{error}");
    });
}

#[test]
fn migrations_have_no_statement_timeout() {
    run_with_postgres(async {
        let database = Database::new();
        database.query(
            "CREATE FUNCTION slow () RETURNS event_trigger LANGUAGE plpgsql AS
                 'BEGIN PERFORM pg_sleep(2.5); END';
             CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE VIEW')
                 EXECUTE FUNCTION slow()",
        );
        let bounded = format!("{}?options=-c%20statement_timeout%3D2s", database.url());
        let pool = connect(&bounded, 2).unwrap();
        let board = ReferenceBoard::new(pool, Arc::new(SystemClock), Language::English);
        board.migrate().await.unwrap();
    });
}

#[test]
fn connections_that_refuse_writes_are_closed() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let pool = storage.pool();
        for is_background in [false, true] {
            let clients = [pool.get().await.unwrap(), pool.get().await.unwrap()];
            for client in clients {
                client.batch_execute("SET default_transaction_read_only = on").await.unwrap();
            }
            let database = storage.database.clone();
            let written = if is_background {
                database.write_background(|tx| Box::pin(delete_sessions(tx))).await
            } else {
                database.write(Writer::Operator, |tx| Box::pin(delete_sessions(tx))).await
            };
            let error = format!("{:?}", written.unwrap_err());
            assert!(error.contains("(25006)"), "{error}");
            assert_eq!(pool.status().size, 0);
        }
    });
}

async fn delete_sessions(tx: &Transaction<'_>) -> BoardResult<u64> {
    tx.execute("DELETE FROM session", &[]).await
}
