//! Execution of statements by a database.

use std::time::Duration;

use super::usage_table::UsageTable;
use super::{ColumnResult, Columns, Statement, report_unreadable};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{BeginOutcome, FanOut, IdempotentRequest, TokenUsage};
use crate::token::Lookup;
use crate::webhook::{Endpoint, KeyId};

/// Database that runs statements.
pub(crate) trait SqlExecutor: Send + Sync + 'static {
    /// SQL expression: true if the label of a token contains the text `?6`, ignoring the case of ASCII letters.
    const LABEL_CONTAINS: &'static str;

    /// Query for the `?2` tokens with the most requests of each hour of the table `hop`, with these requests.
    const BUSIEST_TOKENS: &'static str;

    /// Returns the query for `sums` of the hours from `?1` on for each token of the table `few`, in descending order of requests.
    /// It searches an index for each token, whatever the planner expects.
    fn sums_of_tokens(sums: &str) -> String;

    /// Returns a statement that deletes the first `?3` rows of a table of usage. `hours` is their condition and their order.
    /// `?1` is the parameter of [`NOW`](Self::NOW), and `?2` a time in milliseconds.
    fn sweep_usage(table: UsageTable, hours: &str) -> String;

    /// SQL expression: the time of the clock that decides leases, due times and ages, in milliseconds. Its parameter `?1` is
    /// the result of [`time`](Self::time).
    const NOW: &'static str;

    /// Returns the parameter of [`NOW`](Self::NOW). `now` is the caller's time.
    fn time(&self, now: Timestamp) -> Option<Timestamp>;

    /// SQL condition: true if no event with an earlier position can become visible later.
    const IS_IN_ORDER: &'static str;

    /// Returns a query for up to `?2` events after the position `?3` and the number `?4`, in order. `select` ends with `AND`.
    fn after_position(select: &str) -> String;

    /// SQL condition: true if the id of an event is in `?1`, a comma-separated list.
    const ID_IS_LISTED: &'static str;

    /// Returns a query for the rows of one `scan` for each state. A scan has the SQL expression of its state, and is
    /// ordered and limited.
    fn merge_scans(states: &[&str], scan: impl Fn(&str) -> String) -> String;

    /// Decodes all rows of a query.
    fn query<T: Send + 'static>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> impl Future<Output = BackendResult<Vec<T>>> + Send;

    /// Returns the number of rows that the statement changed.
    fn change(&self, statement: Statement) -> impl Future<Output = BackendResult<u64>> + Send;

    /// Runs one `INSERT`, `UPDATE` or `DELETE` without a `RETURNING` clause. In the same transaction, writes `audit` if the
    /// statement changed at least one row. Returns the number of changed rows.
    fn change_audited(
        &self,
        statement: Statement,
        audit: &AuditEntry,
    ) -> impl Future<Output = BackendResult<u64>> + Send;

    /// See [`TokenStore::record_use`](crate::store::TokenStore::record_use).
    fn record_use(
        &self,
        lookup: &Lookup,
        now: Timestamp,
    ) -> impl Future<Output = BackendResult<()>> + Send;

    /// See [`IdempotencyStore::begin`](crate::store::IdempotencyStore::begin).
    fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> impl Future<Output = BackendResult<BeginOutcome>> + Send;

    /// See [`UsageStore::add_token_usage`](crate::store::UsageStore::add_token_usage).
    fn add_usage(&self, usage: &[TokenUsage]) -> impl Future<Output = BackendResult<()>> + Send;

    /// See [`EndpointStore::replace_key`](crate::store::EndpointStore::replace_key).
    fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> impl Future<Output = BackendResult<bool>> + Send;

    /// See [`OutboxStore::fan_out`](crate::store::OutboxStore::fan_out).
    fn fan_out(
        &self,
        events: &[FanOut],
        now: Timestamp,
    ) -> impl Future<Output = BackendResult<()>> + Send;

    /// See [`FeedStore::sweep`](crate::store::FeedStore::sweep).
    fn sweep_feed(
        &self,
        retention: Duration,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = BackendResult<u64>> + Send;
}

/// Stores in the database of an executor.
pub(crate) struct SqlStore<E>(pub(crate) E);

impl<E: SqlExecutor> SqlStore<E> {
    /// Decodes the first row of a query, if there is one.
    pub(super) async fn first<T: Send + 'static>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> BackendResult<Option<T>> {
        Ok(self.0.query(statement, read).await?.into_iter().next())
    }
}

/// Decodes the rows that can be decoded. Reports the others by their column `id`.
pub(crate) async fn query_readable<T: Send + 'static>(
    executor: &impl SqlExecutor,
    table: &'static str,
    statement: Statement,
    read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
) -> BackendResult<Vec<T>> {
    let rows = executor.query(statement, readable(table, read)).await?;
    Ok(rows.into_iter().flatten().collect())
}

/// Returns a decoder that returns `None` for a row that cannot be decoded, and reports the row by its column `id`.
pub(crate) fn readable<T>(
    table: &'static str,
    read: impl Fn(&dyn Columns) -> ColumnResult<T>,
) -> impl Fn(&dyn Columns) -> ColumnResult<Option<T>> {
    move |row| match read(row) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            report_unreadable(table, &row.lossy_text("id")?, &error.to_string());
            Ok(None)
        }
    }
}
