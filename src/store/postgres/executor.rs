//! Executor of the stores.

use std::sync::Arc;

use deadpool_postgres::Pool;
use tokio_postgres::types::ToSql;

use super::PostgresError;
use super::audit::{entry_values, insert_statement};
use super::execute::{LeaseClock, Parameters, PostgresExecutor, millis};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::sql::{
    ColumnResult, Columns, SqlExecutor, SqlStore, Statement, Value, read_idempotency_record,
};
use crate::store::{
    BeginOutcome, FanOut, IdempotencyRecord, IdempotentRequest, Stores, TokenUsage, UsageCounts,
    WebhookStores,
};
use crate::token::{Lookup, TokenRecord};
use crate::webhook::{Endpoint, KeyId};

const RECORD_USE: &str = include_str!("sql/record_token_use.sql");
const BEGIN: &str = include_str!("sql/begin.sql");
const ADD_USAGE: &str = include_str!("sql/add_usage.sql");
/// Common table expressions that replace the key. `recorded` has a row if the key is replaced.
const REPLACE_KEY: &str = include_str!("sql/replace_key.sql");
const FAN_OUT: &str = include_str!("sql/fan_out.sql");

impl SqlExecutor for PostgresExecutor {
    const LABEL_CONTAINS: &'static str =
        "strpos(lower(label COLLATE \"C\"), lower(?6 COLLATE \"C\")) > 0";

    const SWEEP_USAGE: &'static str = include_str!("sql/sweep_usage.sql");

    const SWEEP_USAGE_AHEAD: &'static str = include_str!("sql/sweep_usage_ahead.sql");

    /// Hides the states from the planner, which otherwise scans an index of other deliveries in a rare state.
    fn merge_scans(states: &[&str], scan: impl Fn(&str) -> String) -> String {
        let states = states.join("', '");
        let scan = scan("listed.state");
        format!(
            "SELECT page.* FROM unnest(ARRAY['{states}']) AS listed (state) CROSS JOIN LATERAL ({scan}) AS page"
        )
    }

    async fn query<T: Send + 'static>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> BackendResult<Vec<T>> {
        let sql = numbered(&statement);
        let values = parameters(&statement.values);
        Ok(self.read(&sql, &values, read).await?)
    }

    async fn change(&self, statement: Statement) -> BackendResult<u64> {
        let sql = numbered(&statement);
        Ok(self.execute(&sql, &parameters(&statement.values)).await?)
    }

    async fn change_audited(&self, statement: Statement, audit: &AuditEntry) -> BackendResult<u64> {
        let sql = numbered(&statement);
        let parameters = parameters(&statement.values);
        Ok(self.execute_audited(&sql, &parameters, audit).await?)
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        let too_new = now.saturating_add(TokenRecord::LAST_USED_RESOLUTION);
        self.execute(RECORD_USE, &[lookup, &now, &too_old, &too_new]).await?;
        Ok(())
    }

    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let now = self.clock.time(now);
        let ttl = millis(IdempotencyRecord::TTL);
        let namespace = request.namespace.as_str();
        let fingerprint = request.fingerprint.as_slice();
        loop {
            let parameters: Parameters<'_> = &[&namespace, &request.key, &fingerprint, &now, &ttl];
            let row = self
                .first(BEGIN, parameters, |row| {
                    let is_first: bool = row.value("first")?;
                    Ok((is_first, read_idempotency_record(row)?, row.value("now")?))
                })
                .await
                // Without a reservation, the operation does not run.
                .map_err(PostgresError::without_effect)?;
            if let Some((is_first, record, now)) = row {
                return Ok(if is_first {
                    BeginOutcome::Reserved(request.reservation(record.started_at))
                } else {
                    record.outcome_for(&request.fingerprint, now)
                });
            }
        }
    }

    async fn add_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let hours: Vec<_> = usage.iter().map(|one| one.hour).collect();
        let tokens: Vec<_> = usage
            .iter()
            .map(|one| one.token.as_ref())
            .map(|token| token.map_or("", Lookup::as_str))
            .collect();
        let operations: Vec<_> =
            usage.iter().map(|one| one.operation.unwrap_or_default()).collect();
        let mut counts = [const { Vec::new() }; UsageCounts::COLUMNS];
        for one in usage {
            for (column, count) in counts.iter_mut().zip(one.counts.to_row()) {
                column.push(count);
            }
        }
        let counts = counts.iter().map(|column| column as &(dyn ToSql + Sync));
        let key: Parameters<'_> = &[&hours, &tokens, &operations];
        let parameters: Vec<_> = key.iter().copied().chain(counts).collect();
        self.execute(ADD_USAGE, &parameters).await?;
        Ok(())
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let ids: Vec<_> = endpoints.iter().map(|one| &one.id).collect();
        let versions: Vec<_> = endpoints.iter().map(|one| one.version).collect();
        let secrets: Vec<_> = endpoints.iter().map(|one| &one.secret).collect();
        let pending: Vec<_> = endpoints
            .iter()
            .map(|one| one.pending_secret.as_ref())
            .map(|pending| pending.map(|pending| &pending.secret))
            .collect();
        let parameters: Parameters<'_> = &[&former, key, &ids, &versions, &secrets, &pending];
        let Some(audit) = audit else {
            let sql = format!("{REPLACE_KEY} SELECT key_id FROM recorded");
            return Ok(!self.query(&sql, parameters).await?.is_empty());
        };
        let insert = insert_statement(parameters.len(), "1 FROM recorded");
        let sql = format!("{REPLACE_KEY}, audited AS ({insert}) SELECT key_id FROM recorded");
        let values = entry_values(audit);
        let parameters = [parameters, &[&values]].concat();
        Ok(!self.query(&sql, &parameters).await?.is_empty())
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let ids: Vec<_> = events.iter().map(|one| &one.event_id).collect();
        let recipients = recipients(events);
        let (each_event, each_endpoint): (Vec<_>, Vec<_>) = recipients.iter().copied().unzip();
        let deliveries: Vec<_> =
            recipients.iter().map(|(event, to)| DeliveryId::derive(event, to)).collect();
        let now = self.clock.time(now);
        let parameters: Parameters<'_> = &[&ids, &now, &deliveries, &each_event, &each_endpoint];
        self.execute(FAN_OUT, parameters).await?;
        Ok(())
    }
}

/// Replaces the placeholders `?1` by `$1`.
fn numbered(statement: &Statement) -> String {
    statement.sql.replace('?', "$")
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn recipients(events: &[FanOut]) -> Vec<(&EventId, &EndpointId)> {
    let recipients =
        events.iter().flat_map(|one| one.endpoint_ids.iter().map(|to| (&one.event_id, to)));
    recipients.collect()
}

impl Stores {
    /// Creates stores of tokens, idempotency keys, usage and the audit log in the database of `pool`, for any number of
    /// nodes (feature `postgres`). Rate limits are in the memory of each node: `n` nodes grant up to `n` budgets.
    pub fn in_postgres(pool: &Pool) -> Self {
        Self::in_postgres_with(pool, LeaseClock::Database)
    }

    /// Creates stores as [`in_postgres`](Self::in_postgres) does, with the clock that decides the expiry of idempotency
    /// keys.
    pub fn in_postgres_with(pool: &Pool, clock: LeaseClock) -> Self {
        let store = Arc::new(SqlStore(executor(pool, clock)));
        Self {
            tokens: store.clone(),
            idempotency: store.clone(),
            audit: store.clone(),
            usage: store,
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Creates stores of webhooks in the database of `pool`, for any number of nodes and workers (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        Self::in_postgres_with(pool, LeaseClock::Database)
    }

    /// Creates stores as [`in_postgres`](Self::in_postgres) does, with the clock that decides leases and due times.
    pub fn in_postgres_with(pool: &Pool, clock: LeaseClock) -> Self {
        let store = Arc::new(SqlStore(executor(pool, clock)));
        Self {
            outbox: store.clone(),
            endpoints: store,
            deliveries: Arc::new(executor(pool, clock)),
        }
    }
}

fn executor(pool: &Pool, clock: LeaseClock) -> PostgresExecutor {
    PostgresExecutor { pool: pool.clone(), clock }
}
