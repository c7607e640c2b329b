//! The tables of a board, compared with those that the program needs.

use std::sync::Arc;

use forum_api::Language;
use forum_api::runtime::SystemClock;
use forum_api::store::SchemaStatus;
use forum_api::store::postgres::connect;
use forum_api::store::sqlite::{Database, DatabasePath};
use tokio::sync::Notify;

use crate::board::{ReferenceBoard, db};
use crate::postgres::{self, run_with_postgres};

fn board(database: impl Into<db::BoardDatabase>) -> ReferenceBoard {
    ReferenceBoard::new(database, Arc::new(SystemClock), Language::English)
}

#[tokio::test]
async fn a_new_database_lacks_all_migrations() {
    let board = board(Database::open(&DatabasePath::Memory).unwrap());
    assert_eq!(board.schema_status().await.unwrap(), SchemaStatus::Pending);
    let pending = board.pending_migrations().await.unwrap();
    assert!(pending.contains(&"board 0001_init".into()));
    assert!(!pending.iter().any(|name| name.starts_with("library ")));
    for _ in 0..2 {
        board.migrate().await.unwrap();
        let status = board.schema_status().await.unwrap();
        assert_eq!(status, SchemaStatus::UpToDate);
        assert!(board.pending_migrations().await.unwrap().is_empty());
    }
}

#[test]
fn a_migration_does_not_wait_for_writes() {
    run_with_postgres(async {
        let made = postgres::Database::new();
        let board = board(connect(&made.url(), 4).unwrap());
        let [begun, end] = [(); 2].map(|()| Arc::new(Notify::new()));
        let begins = begun.clone();
        let ends = end.clone();
        let writer = board.clone();
        let writing = tokio::spawn(async move {
            writer
                .write(move |_, _| {
                    Box::pin(async move {
                        begins.notify_one();
                        ends.notified().await;
                        Ok(())
                    })
                })
                .await
        });
        begun.notified().await;
        let pending = board.pending_migrations().await.unwrap();
        assert!(pending.contains(&"board 0001_init".into()));
        board.migrate().await.unwrap();
        assert_eq!(board.schema_status().await.unwrap(), SchemaStatus::UpToDate);
        end.notify_one();
        writing.await.unwrap().unwrap();
    });
}
