//! Databases whose tables tests change with SQL.

use forum_api::store::sqlite::rusqlite::{Connection, Row, params_from_iter};
use forum_api::store::{ErasureStatement, WebhookStores};
use forum_api::webhook::Event;
use tempfile::TempDir;
use tokio_postgres::types::ToSql;

use crate::fixture::{path, temp_database};
use crate::postgres::{Pool, tables, webhooks};

/// A database whose tables tests change with SQL.
pub(crate) enum Sql {
    Sqlite(TempDir, WebhookStores),
    Postgres(Pool, WebhookStores),
}

impl Sql {
    pub(crate) fn sqlite() -> Self {
        let (directory, database) = temp_database();
        Self::Sqlite(directory, WebhookStores::in_sqlite(&database))
    }

    pub(crate) async fn postgres() -> Self {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        Self::Postgres(pool, webhooks)
    }

    pub(crate) const fn webhooks(&self) -> &WebhookStores {
        match self {
            Self::Sqlite(_, webhooks) | Self::Postgres(_, webhooks) => webhooks,
        }
    }

    /// Runs statements without the constraints of events.
    pub(crate) async fn run_unchecked(&self, sql: &str) {
        match self {
            Self::Sqlite(directory, _) => {
                let connection = Connection::open(path(directory)).unwrap();
                let unchecked = "PRAGMA ignore_check_constraints = ON";
                connection.execute_batch(unchecked).unwrap();
                connection.execute_batch(sql).unwrap();
            }
            Self::Postgres(pool, _) => {
                let client = pool.get().await.unwrap();
                client.batch_execute(DROP_CONSTRAINTS).await.unwrap();
                client.batch_execute(sql).await.unwrap();
            }
        }
    }

    /// Inserts an event as a host does; returns whether the database accepts it.
    pub(crate) async fn accepts(&self, [id, topic, at, forum, body]: [&str; 5]) -> bool {
        let event = [id, topic, at, forum, "", body];
        match self {
            Self::Sqlite(directory, _) => {
                let host = Connection::open(path(directory)).unwrap();
                host.execute(Event::INSERT_SQL, event).is_ok()
            }
            Self::Postgres(pool, _) => {
                let client = pool.get().await.unwrap();
                let event = event.each_ref().map(|text| text as &(dyn ToSql + Sync));
                client.execute(Event::INSERT_SQL, &event).await.is_ok()
            }
        }
    }

    /// Runs the statements of an erasure as a host does.
    pub(crate) async fn erase(&self, statements: Vec<ErasureStatement>) {
        for ErasureStatement { sql, parameters, .. } in statements {
            match self {
                Self::Sqlite(directory, _) => {
                    let host = Connection::open(path(directory)).unwrap();
                    host.execute(sql, params_from_iter(parameters)).unwrap();
                }
                Self::Postgres(pool, _) => {
                    let client = pool.get().await.unwrap();
                    let texts: Vec<_> =
                        parameters.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
                    client.execute(sql, &texts).await.unwrap();
                }
            }
        }
    }

    /// Returns the details of the entries of the audit log, ordered by id.
    pub(crate) async fn details(&self) -> Vec<String> {
        let select = "SELECT details FROM forum_api_audit_log ORDER BY id";
        match self {
            Self::Sqlite(directory, _) => {
                let connection = Connection::open(path(directory)).unwrap();
                let mut statement = connection.prepare(select).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            }
            Self::Postgres(pool, _) => {
                let client = pool.get().await.unwrap();
                let rows = client.query(select, &[]).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }

    /// Returns the numbers of events, deliveries and attempts.
    pub(crate) async fn rows(&self) -> [i64; 3] {
        let count = "SELECT (SELECT count(*) FROM forum_api_events),
            (SELECT count(*) FROM forum_api_deliveries), (SELECT count(*) FROM forum_api_attempts)";
        match self {
            Self::Sqlite(directory, _) => {
                let connection = Connection::open(path(directory)).unwrap();
                let read = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?]);
                connection.query_row(count, [], read).unwrap()
            }
            Self::Postgres(pool, _) => {
                let client = pool.get().await.unwrap();
                let row = client.query_one(count, &[]).await.unwrap();
                [0, 1, 2].map(|column| row.get(column))
            }
        }
    }
}

const DROP_CONSTRAINTS: &str = "
    DO $$
    DECLARE name TEXT;
    BEGIN
        FOR name IN SELECT conname FROM pg_constraint
            WHERE conrelid = 'forum_api_events'::regclass AND contype = 'c'
        LOOP
            EXECUTE format('ALTER TABLE forum_api_events DROP CONSTRAINT %I', name);
        END LOOP;
    END
    $$";
