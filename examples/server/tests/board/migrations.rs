//! The tables of a board, compared with those that the program needs.

use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{Migration, Migrations, SchemaStatus};
use tokio::sync::Notify;

use crate::board::db::{self, ReadKind};
use crate::postgres;
use crate::prelude::*;

fn new_board(database: impl Into<db::BoardDatabase>) -> ReferenceBoard {
    ReferenceBoard::new(database, Arc::new(SystemClock), Language::English)
}

#[tokio::test]
async fn a_new_database_lacks_all_migrations() {
    let board = new_board(Database::open(&DatabasePath::Memory).unwrap());
    assert_eq!(board.schema_status().await.unwrap(), SchemaStatus::Pending);
    let pending = board.pending_migrations().await.unwrap();
    assert!(pending.contains(&"board 0001_init".into()));
    assert!(!pending.iter().any(|name| name.starts_with("library ")));
    for _ in 0..2 {
        board.migrate().await.unwrap();
        assert_eq!(board.schema_status().await.unwrap(), SchemaStatus::UpToDate);
        assert!(board.pending_migrations().await.unwrap().is_empty());
    }
}

/// A logical replication needs a primary key to change rows.
#[test]
fn each_table_has_a_primary_key() {
    run_with_postgres(async {
        let on_sqlite = "SELECT name FROM pragma_table_list AS listed
            WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
                AND NOT EXISTS (SELECT 1 FROM pragma_table_info(listed.name) WHERE pk > 0)";
        let on_postgres = "SELECT relname AS name FROM pg_class
            WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::REGNAMESPACE
                AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)";
        for backend in [Backend::Memory, Backend::Postgres] {
            let storage = backend.create_storage().await;
            let without_key =
                storage.database.read::<Vec<String>>(ReadKind::One, move |connection| {
                    Box::pin(async move {
                        let find = connection.dialect(on_sqlite, on_postgres);
                        connection.all(find, &[], |row| row.value("name")).await
                    })
                });
            assert_eq!(without_key.await.unwrap(), [] as [&str; 0], "{backend:?}");
        }
    });
}

#[test]
fn a_migration_does_not_wait_for_writes() {
    run_with_postgres(async {
        let made = postgres::Database::new();
        let board = new_board(connect(&made.url(), 4).unwrap());
        let begun = Arc::new(Notify::new());
        let end = Arc::new(Notify::new());
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

/// Migrations that a next version could have: `0001_init` is that of this version.
const EXPAND: Migration = Migration {
    name: "0002_expand",
    sql: "ALTER TABLE post ADD COLUMN language TEXT;
        CREATE TABLE reaction (post_id BIGINT NOT NULL, kind TEXT NOT NULL);
        CREATE INDEX post_by_language ON post (language)",
};

const CONTRACT: Migration =
    Migration { name: "0003_contract", sql: "ALTER TABLE post DROP COLUMN edit_reason" };

/// Applies the first `count` migrations of the next version.
async fn upgrade(demo: &Demo, count: usize) {
    let init = demo.for_backend(
        include_str!("../../src/board/schema/sqlite/0001_init.sql"),
        include_str!("../../src/board/schema/postgres/0001_init.sql"),
    );
    let all = vec![Migration { name: "0001_init", sql: init }, EXPAND, CONTRACT].leak();
    let migrations = Migrations { table: "board_migrations", all: &all[..count] };
    let names: Vec<String> =
        demo.query_values("SELECT name AS value FROM board_migrations ORDER BY step").await;
    let checksums: Vec<String> =
        demo.query_values("SELECT checksum AS value FROM board_migrations ORDER BY step").await;
    let applied: Vec<_> = names.into_iter().zip(checksums).collect();
    demo.sql(&migrations.pending_sql(&applied).unwrap()).await;
}

#[tokio::test]
async fn running_nodes_work_beside_the_expanded_schema_of_the_next_version() {
    let demo = Demo::new().await;
    demo.set("post.interval_seconds", "0").await;
    let tea = demo.tea_posts_path().await;
    let statuses = async || {
        let (posted, post) = demo.post("bob", &tea, body("Sencha")).await;
        let path = format!("{tea}/{}", post["postId"].as_str().unwrap());
        let bob = demo.as_member("bob").await;
        let edited = bob.patch(&path, &body("Gyokuro")).await.status;
        let listed = demo.get("alice", &tea).await.0;
        let searched = demo.get("guest", "/search?q=gyokuro").await.0;
        let deleted = bob.delete(&path).await.status;
        [posted, edited, listed, searched, deleted]
    };
    let all = [201, 200, 200, 200, 204];
    assert_eq!(statuses().await, all);

    upgrade(&demo, 2).await;
    assert_eq!(statuses().await, all);
    // A restarted node of this version does not start.
    assert_eq!(demo.board.schema_status().await.unwrap(), SchemaStatus::Newer);
    assert!(demo.board.migrate().await.is_err());
    assert_eq!(statuses().await, all);

    // The last step needs the end of all nodes of this version.
    upgrade(&demo, 3).await;
    assert_eq!(statuses().await, [201, 500, 200, 200, 204]);
}

/// A migration can change the type of a column while other nodes run.
#[tokio::test(flavor = "multi_thread")]
async fn statements_are_prepared_again_after_a_change_of_a_column() {
    let demo = Demo::in_postgres().await;
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let posts = demo.tea_posts_path().await;
    let client = demo.pool().get().await.unwrap();
    for path in ["", &*posts, "/search?q=tea", "/forums"] {
        let request = async || match path {
            "" => demo.post("alice", &posts, body("x")).await.0,
            path => demo.get("alice", path).await.0,
        };
        for column in ["post ALTER body", "thread ALTER title", "forum ALTER title"] {
            for kind in ["VARCHAR", "TEXT"] {
                let expected = request().await;
                assert!([200, 201].contains(&expected), "{expected}");
                let change = format!("ALTER TABLE {column} TYPE {kind}");
                client.batch_execute(&change).await.unwrap();
                let first = request().await;
                assert!([expected, 503].contains(&first), "{first}");
                assert_eq!(request().await, expected, "{change}");
            }
        }
    }
}
