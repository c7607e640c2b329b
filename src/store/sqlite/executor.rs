//! Executor of the stores.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Savepoint, params, params_from_iter};

use super::execute::{Result, all, change, change_audited};
use super::pool::Priority;
use super::{Database, SqliteError, idempotency, outbox, usage, webhook_key};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sql::{ColumnResult, Columns, SqlExecutor, SqlStore, Statement, UsageTable};
use crate::store::sqlite_schema::tokens::RECORD_USE;
use crate::store::{BeginOutcome, FanOut, IdempotentRequest, Stores, TokenUsage, WebhookStores};
use crate::token::{Lookup, TokenRecord};
use crate::webhook::{Endpoint, KeyId};

/// Runs statements in a database.
#[derive(Clone)]
pub(super) struct SqliteExecutor {
    database: Database,
    /// Writes of the board precede the writes of a background executor.
    priority: Priority,
}

impl SqliteExecutor {
    fn new(database: &Database, priority: Priority) -> Self {
        let database = database.clone();
        Self { database, priority }
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> BackendResult<T> {
        Ok(self.database.read(run).await?)
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> BackendResult<T> {
        let run = |savepoint: &Savepoint<'_>| run(savepoint);
        Ok(self.database.write_in(self.priority, run).await?)
    }
}

impl SqlExecutor for SqliteExecutor {
    const LABEL_CONTAINS: &'static str = "instr(lower(label), lower(?6)) > 0";

    const BUSIEST_TOKENS: &'static str = "
        SELECT busy.token, busy.requests FROM hop CROSS JOIN forum_api_usage AS busy
        WHERE busy.hour = hop.hour AND busy.token IN (
            SELECT token FROM forum_api_usage
            WHERE hour = hop.hour ORDER BY requests DESC, token DESC LIMIT ?2
        )";

    fn sums_of_tokens(sums: &str) -> String {
        format!(
            "SELECT nullif(few.token, '') AS lookup, {sums}
            FROM few CROSS JOIN forum_api_usage AS stored ON stored.token = few.token AND stored.hour >= ?1
            GROUP BY few.token ORDER BY 2 DESC, few.token"
        )
    }

    fn sweep_usage(table: UsageTable, hours: &str) -> String {
        let UsageTable { name, key } = table;
        format!(
            "DELETE FROM {name} WHERE (hour, {key}) IN (SELECT hour, {key} FROM {name} WHERE {hours} LIMIT ?3)"
        )
    }

    const NOW: &'static str = "?1";

    fn time(&self, now: Timestamp) -> Option<Timestamp> {
        Some(now)
    }

    /// Transactions do not overlap, so that the numbers of events are in the order of the commits.
    const IS_IN_ORDER: &'static str = "TRUE";

    const ID_IS_LISTED: &'static str =
        "id IN (SELECT value FROM json_each('[\"' || replace(?1, ',', '\",\"') || '\"]'))";

    /// SQLite does not search an index for a row value that ends with the integer primary key.
    fn after_position(select: &str) -> String {
        format!(
            "SELECT * FROM ({select} position = ?3 AND number > ?4 ORDER BY number LIMIT ?2)
            UNION ALL
            SELECT * FROM ({select} position > ?3 ORDER BY position, number LIMIT ?2)
            ORDER BY position, number LIMIT ?2"
        )
    }

    fn merge_scans(states: &[&str], scan: impl Fn(&str) -> String) -> String {
        let scans = states
            .iter()
            .map(|state| scan(&format!("'{state}'")))
            .map(|scan| format!("SELECT * FROM ({scan}) AS page"));
        scans.collect::<Vec<_>>().join(" UNION ALL ")
    }

    async fn query<T: Send + 'static>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> BackendResult<Vec<T>> {
        let is_urgent = statement.is_urgent;
        let run = move |connection: &Connection| {
            let values = params_from_iter(statement.values);
            all(connection, &statement.sql, values, read)
        };
        match self.priority {
            Priority::Foreground if is_urgent => Ok(self.database.read_short(run).await?),
            _ => self.read(run).await,
        }
    }

    async fn change(&self, statement: Statement) -> BackendResult<u64> {
        let priority = match self.priority {
            Priority::Foreground if statement.is_urgent => Priority::Completion,
            priority => priority,
        };
        let run = move |savepoint: &Savepoint<'_>| {
            let values = params_from_iter(statement.values);
            Ok::<_, SqliteError>(change(savepoint, &statement.sql, values)? as u64)
        };
        Ok(self.database.write_in(priority, run).await?)
    }

    async fn change_audited(&self, statement: Statement, audit: &AuditEntry) -> BackendResult<u64> {
        let audit = audit.clone();
        self.write(move |connection| {
            let values = params_from_iter(statement.values);
            change_audited(connection, &statement.sql, values, &audit)
        })
        .await
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let lookup = *lookup;
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        let too_new = now.saturating_add(TokenRecord::LAST_USED_RESOLUTION);
        self.database.write_detached(move |savepoint| {
            change(savepoint, RECORD_USE, params![lookup, now, too_old, too_new]).map(drop)
        });
        Ok(())
    }

    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let request = request.clone();
        self.write(move |connection| idempotency::begin(connection, &request, now)).await
    }

    async fn add_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let usage = usage.to_vec();
        self.write(move |connection| usage::add(connection, &usage)).await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let former = former.cloned();
        let key = key.clone();
        let endpoints = endpoints.to_vec();
        let audit = audit.cloned();
        self.write(move |connection| {
            let (former, audit) = (former.as_ref(), audit.as_ref());
            webhook_key::replace(connection, former, &key, &endpoints, audit)
        })
        .await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let events = events.to_vec();
        self.write(move |connection| {
            for event in &events {
                outbox::fan_out(connection, event, now)?;
            }
            Ok(())
        })
        .await
    }

    async fn sweep_feed(
        &self,
        retention: Duration,
        now: Timestamp,
        limit: u32,
    ) -> BackendResult<u64> {
        self.write(move |connection| outbox::sweep_feed(connection, retention, now, limit)).await
    }
}

impl Stores {
    /// Creates stores of tokens, idempotency keys, usage and the audit log in `database`, for one node (feature `sqlite`).
    /// Rate limits are in memory.
    pub fn in_sqlite(database: &Database) -> Self {
        let foreground = Arc::new(SqlStore(SqliteExecutor::new(database, Priority::Foreground)));
        let background = SqliteExecutor::new(database, Priority::Background);
        Self {
            tokens: foreground.clone(),
            idempotency: foreground.clone(),
            audit: foreground,
            usage: Arc::new(SqlStore(background)),
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Creates stores of webhooks in `database` (feature `sqlite`).
    pub fn in_sqlite(database: &Database) -> Self {
        let executor = SqliteExecutor::new(database, Priority::Background);
        let store = Arc::new(SqlStore(executor.clone()));
        let feed = SqliteExecutor::new(database, Priority::Foreground);
        Self {
            outbox: store.clone(),
            feed: Arc::new(SqlStore(feed)),
            endpoints: store,
            deliveries: Arc::new(executor),
        }
    }
}
