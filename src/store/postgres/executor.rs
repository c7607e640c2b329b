//! Executor of the stores.

use std::sync::Arc;
use std::time::Duration;

use super::audit::{entry_values, insert_statement};
use super::execute::{LeaseClock, PostgresExecutor, millis};
use super::{Parameter, PostgresDriver, PostgresError};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{CLOCK_TOLERANCE, DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::sql::{
    ColumnResult, Columns, SUMS, SqlExecutor, SqlStore, Statement, UsageTable, Value,
    read_idempotency_record,
};
use crate::store::{
    BeginOutcome, FanOut, IdempotencyRecord, IdempotentRequest, Stores, TokenUsage, UsageCounts,
    WebhookStores,
};
use crate::token::{Lookup, TokenRecord};
use crate::webhook::{EncryptedSecret, Endpoint, KeyId};

const RECORD_USE: &str = include_str!("sql/record_token_use.sql");
const BEGIN: &str = include_str!("sql/begin.sql");
/// Common table expressions that replace the key. `recorded` has a row if the key is replaced.
const REPLACE_KEY: &str = include_str!("sql/replace_key.sql");
const FAN_OUT: &str = include_str!("sql/fan_out.sql");
const SWEEP_FEED: &str = include_str!("sql/sweep_feed.sql");
const BEGIN_MOVE: &str = include_str!("sql/begin_move.sql");
const MOVE_POSITIONS: &str = include_str!("sql/move_positions.sql");

/// Changes of tokens, idempotency keys, usage and the audit log use at most a quarter of the connections.
const KEYS_PART: usize = 4;

/// Changes of endpoints, events and deliveries use at most an eighth of the connections. A worker makes few of these
/// changes at a time.
const WEBHOOKS_PART: usize = 8;

/// Number of events whose positions one statement moves.
const MOVE_BATCH: i64 = 5_000;

impl SqlExecutor for PostgresExecutor {
    const LABEL_CONTAINS: &'static str =
        "strpos(lower(label COLLATE \"C\"), lower(?6 COLLATE \"C\")) > 0";

    const BUSIEST_TOKENS: &'static str = "
        SELECT page.* FROM hop CROSS JOIN LATERAL (
            SELECT token, requests FROM forum_api_usage
            WHERE hour = hop.hour ORDER BY requests DESC, token DESC LIMIT ?2
        ) AS page";

    fn sums_of_tokens(sums: &str) -> String {
        format!(
            "SELECT nullif(few.token, '') AS lookup, summed.*
            FROM few CROSS JOIN LATERAL (
                SELECT {sums} FROM forum_api_usage AS stored WHERE stored.token = few.token AND stored.hour >= ?1
            ) AS summed
            ORDER BY summed.requests DESC, few.token"
        )
    }

    /// Skips locked rows.
    fn sweep_usage(table: UsageTable, hours: &str) -> String {
        let name = table.name;
        format!(
            "WITH page AS MATERIALIZED (
                SELECT ctid FROM {name} WHERE {hours} LIMIT ?3 FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {name} WHERE ctid = ANY (ARRAY(SELECT ctid FROM page))"
        )
    }

    /// The query is evaluated once for each statement.
    const NOW: &'static str = "(SELECT coalesce(
        CAST(?1 AS BIGINT), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
    ))";

    fn time(&self, now: Timestamp) -> Option<Timestamp> {
        self.clock.time(now)
    }

    /// An event is in order if all transactions with an earlier or the same number have ended. Until all events of another
    /// cluster have moved, only those that have moved are in order.
    const IS_IN_ORDER: &'static str = "position < (
        SELECT CASE
            WHEN EXISTS (SELECT FROM forum_api_feed_move) OR (
                SELECT max(position) FROM forum_api_events WHERE in_feed
            ) >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) THEN 0
            ELSE CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
        END
    )";

    const ID_IS_LISTED: &'static str = "id = ANY (string_to_array(CAST(?1 AS TEXT), ','))";

    fn after_position(select: &str) -> String {
        let is_in_order = Self::IS_IN_ORDER;
        format!(
            "{select} {is_in_order} AND (position, number) > (?3, ?4) ORDER BY position, number LIMIT ?2"
        )
    }

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
        Ok(self.read(&sql, &parameters(statement.values), read).await?)
    }

    async fn change(&self, statement: Statement) -> BackendResult<u64> {
        let sql = numbered(&statement);
        Ok(self.execute(sql, parameters(statement.values)).await?)
    }

    async fn change_audited(&self, statement: Statement, audit: &AuditEntry) -> BackendResult<u64> {
        let sql = numbered(&statement);
        Ok(self.execute_audited(&sql, parameters(statement.values), audit).await?)
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        let too_new = now.saturating_add(TokenRecord::LAST_USED_RESOLUTION);
        let parameters = [lookup.into(), now.into(), too_old.into(), too_new.into()];
        self.execute_asynchronous(RECORD_USE, &parameters).await?;
        Ok(())
    }

    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let parameters = [
            request.namespace.as_str().into(),
            request.key.as_str().into(),
            request.fingerprint.as_slice().into(),
            self.clock.time(now).into(),
            millis(IdempotencyRecord::TTL).into(),
        ];
        loop {
            let row = self
                .first(BEGIN, parameters.clone(), |row| {
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
        let mut counts = [const { Vec::new() }; UsageCounts::COLUMNS];
        for one in usage {
            for (column, count) in counts.iter_mut().zip(one.counts.to_row()) {
                column.push(Some(count));
            }
        }
        let mut parameters = vec![
            Parameter::integers(usage.iter().map(|one| one.hour.as_millis())),
            Parameter::texts(usage.iter().map(|one| one.token.as_ref().map_or("", Lookup::as_str))),
            Parameter::texts(usage.iter().map(|one| one.operation.unwrap_or_default())),
        ];
        parameters.extend(counts.map(Parameter::Integers));
        self.execute(add_usage(), parameters).await?;
        Ok(())
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let secret = |secret: &EncryptedSecret| secret.as_bytes().to_vec();
        let secrets = endpoints.iter().map(|one| Some(secret(&one.secret)));
        let pending = endpoints
            .iter()
            .map(|one| one.pending_secret.as_ref().map(|pending| secret(&pending.secret)));
        let mut parameters = vec![
            former.into(),
            key.into(),
            Parameter::texts(endpoints.iter().map(|one| &one.id)),
            Parameter::integers(endpoints.iter().map(|one| one.version)),
            Parameter::ByteStrings(secrets.collect()),
            Parameter::ByteStrings(pending.collect()),
        ];
        let audited = match audit {
            None => String::new(),
            Some(audit) => {
                let insert = insert_statement(parameters.len(), "1 FROM recorded");
                parameters.push(entry_values(audit));
                format!(", audited AS ({insert})")
            }
        };
        let sql = format!("{REPLACE_KEY}{audited} SELECT key_id FROM recorded");
        Ok(self.first(sql, parameters, |_| Ok(())).await?.is_some())
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let recipients = recipients(events);
        let deliveries = recipients.iter().map(|(event, to)| DeliveryId::derive(event, to));
        let staying = events.iter().filter(|one| one.stays_in_feed);
        let parameters = [
            Parameter::texts(events.iter().map(|one| &one.event_id)),
            self.clock.time(now).into(),
            Parameter::texts(deliveries),
            Parameter::texts(recipients.iter().map(|(event, _)| event)),
            Parameter::texts(recipients.iter().map(|(_, endpoint)| endpoint)),
            Parameter::texts(staying.map(|one| &one.event_id)),
        ];
        self.execute_asynchronous(FAN_OUT, &parameters).await?;
        Ok(())
    }

    async fn sweep_feed(
        &self,
        retention: Duration,
        now: Timestamp,
        limit: u32,
    ) -> BackendResult<u64> {
        self.execute(BEGIN_MOVE, []).await?;
        let read = |row: &dyn Columns| row.value::<bool>("is_moving");
        let is_moving = self.first(MOVE_POSITIONS, [MOVE_BATCH.into()], read).await?;
        if is_moving == Some(true) {
            return Ok(limit.into());
        }
        let parameters = [
            self.clock.time(now).into(),
            millis(retention).into(),
            millis(CLOCK_TOLERANCE).into(),
            i64::from(limit).into(),
        ];
        Ok(self.execute(SWEEP_FEED, parameters).await?)
    }
}

/// Returns the statement that adds rows to both tables of usage. It locks the rows of each in the order of their key, so that
/// concurrent statements do not deadlock: the requests of operations first, on whose number those of tokens depend.
fn add_usage() -> String {
    let [tokens, operations] =
        [UsageTable::TOKENS, UsageTable::OPERATIONS].map(UsageTable::add_to_stored);
    format!(
        "WITH added AS MATERIALIZED (
            SELECT * FROM unnest(
                $1::BIGINT[], $2::TEXT[], $3::TEXT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::BIGINT[],
                $8::BIGINT[], $9::BIGINT[], $10::BIGINT[]
            ) AS added (
                hour, token, operation, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors
            )
        ), by_operation AS (
            INSERT INTO forum_api_operation_usage AS stored
                (hour, operation, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
            SELECT hour, operation, {SUMS} FROM added GROUP BY hour, operation ORDER BY hour, operation COLLATE \"C\"
            {operations}
            RETURNING TRUE
        )
        INSERT INTO forum_api_usage AS stored
            (hour, token, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
        SELECT hour, token, {SUMS} FROM added
        WHERE (SELECT count(*) FROM by_operation) > 0
        GROUP BY hour, token ORDER BY hour, token COLLATE \"C\"
        {tokens}"
    )
}

/// Replaces the placeholders `?1` by `$1`.
fn numbered(statement: &Statement) -> String {
    statement.sql.replace('?', "$")
}

fn parameters(values: Vec<Value>) -> Vec<Parameter> {
    values.into_iter().map(Into::into).collect()
}

fn recipients(events: &[FanOut]) -> Vec<(&EventId, &EndpointId)> {
    let recipients =
        events.iter().flat_map(|one| one.endpoint_ids.iter().map(|to| (&one.event_id, to)));
    recipients.collect()
}

impl Stores {
    /// Creates stores of tokens, idempotency keys, usage and the audit log in the database of `driver`, for any number of
    /// nodes (feature `postgres`). Rate limits are in the memory of each node: `n` nodes grant up to `n` budgets.
    ///
    /// The stores keep a clone of the driver. A pool of connections, or a driver in an [`Arc`], is cheap to clone.
    pub fn in_postgres(driver: &(impl PostgresDriver + Clone)) -> Self {
        Self::in_postgres_with(driver, LeaseClock::Database)
    }

    /// Creates stores as [`in_postgres`](Self::in_postgres) does, with the clock that decides the expiry of idempotency
    /// keys and the retention of usage.
    pub fn in_postgres_with(driver: &(impl PostgresDriver + Clone), clock: LeaseClock) -> Self {
        let store = Arc::new(SqlStore(PostgresExecutor::new(driver, clock, KEYS_PART)));
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
    /// Creates stores of webhooks in the database of `driver`, for any number of nodes and workers (feature `postgres`).
    pub fn in_postgres(driver: &(impl PostgresDriver + Clone)) -> Self {
        Self::in_postgres_with(driver, LeaseClock::Database)
    }

    /// Creates stores as [`in_postgres`](Self::in_postgres) does, with the clock that decides leases, due times and ages.
    pub fn in_postgres_with(driver: &(impl PostgresDriver + Clone), clock: LeaseClock) -> Self {
        let executor = PostgresExecutor::new(driver, clock, WEBHOOKS_PART);
        let store = Arc::new(SqlStore(executor.clone()));
        Self {
            outbox: store.clone(),
            feed: store.clone(),
            endpoints: store,
            deliveries: Arc::new(executor),
        }
    }
}
