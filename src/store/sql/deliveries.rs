//! Reads of deliveries.

use std::cmp::Reverse;

use super::{
    ColumnResult, Columns, SqlExecutor, Statement, query_readable, read_attempt, read_delivery,
};
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId};
use crate::store::{DeliveryFilter, QueueStats};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState};

/// Columns of a delivery and of an attempt.
const COLUMNS: &str = "id, event, topic, endpoint, created_at, state, attempts, due_at,
        number, attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers";

/// See [`DeliveryStore::find`](crate::store::DeliveryStore::find).
pub(crate) async fn find(
    executor: &impl SqlExecutor,
    id: &DeliveryId,
) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
    // The attempts are joined so that a settlement between two statements does not separate them from their delivery.
    let sql = format!(
        "SELECT {COLUMNS} FROM forum_api_deliveries LEFT JOIN forum_api_attempts ON delivery = id
        WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
        ORDER BY number"
    );
    let statement = Statement::new(sql, [id.into()]);
    let rows = executor.query(statement, read_attempted).await?;
    let (deliveries, attempts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Ok(deliveries
        .into_iter()
        .next()
        .map(|delivery| (delivery, attempts.into_iter().flatten().collect())))
}

/// Reads a delivery and an attempt, if the row has one.
fn read_attempted(row: &dyn Columns) -> ColumnResult<(Delivery, Option<AttemptRecord>)> {
    let number: Option<i64> = row.optional("number")?;
    let attempt = number.map(|_| read_attempt(row)).transpose()?;
    Ok((read_delivery(row)?, attempt))
}

/// See [`DeliveryStore::list`](crate::store::DeliveryStore::list).
pub(crate) async fn list<E: SqlExecutor>(
    executor: &E,
    filter: &DeliveryFilter,
) -> BackendResult<Vec<(Delivery, Option<AttemptRecord>)>> {
    let states = filter.states();
    if states.is_empty() {
        return Ok(Vec::new());
    }
    let statement = list_statement::<E>(filter, &states);
    let mut page = query_readable(executor, "deliveries", statement, read_attempted).await?;
    page.sort_by_cached_key(|(delivery, _)| Reverse((delivery.created_at, delivery.id.clone())));
    Ok(page)
}

/// See [`DeliveryStore::count_dead`](crate::store::DeliveryStore::count_dead).
pub(crate) async fn count_dead(
    executor: &impl SqlExecutor,
    endpoint: Option<&EndpointId>,
) -> BackendResult<u64> {
    let limit = i64::try_from(QueueStats::MAX_DEPTH).unwrap_or(i64::MAX);
    let mut count = Statement::new(
        "
    SELECT count(*) AS count FROM (
        SELECT 1 FROM forum_api_deliveries WHERE state = 'dead'
            AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)",
        [limit.into()],
    );
    count.and("endpoint =", endpoint);
    count.push(" LIMIT ?1) AS few");
    let counted = executor.query(count, |row| row.value("count")).await?;
    Ok(counted.first().copied().unwrap_or_default())
}

/// Returns the conditions of `filter`, each after an ` AND `. Their placeholders begin at `?2`; `?1` is the limit.
fn conditions(filter: &DeliveryFilter) -> Statement {
    let mut conditions = Statement::new("", [filter.limit.into()]);
    conditions.and("endpoint =", filter.endpoint_id.as_ref());
    conditions.and("topic =", filter.topic.as_ref());
    conditions.and("created_at >=", filter.since);
    let class = filter.status_class().map(i64::from);
    conditions.and("status_class =", class);
    if let Some((created_at, id)) = filter.start() {
        let created_at = conditions.bind(created_at);
        let id = conditions.bind(id);
        conditions.push(&format!(" AND (created_at, id) < ({created_at}, {id})"));
    }
    conditions
}

/// Returns the statement that selects the first deliveries in one of `states` that `filter` selects, newest first, and
/// joins their last attempts in any order.
///
/// The indexes are ordered by time within each state, so the statement merges one scan for each state. They contain the class
/// of the status, so a scan that selects few deliveries does not read the others.
fn list_statement<E: SqlExecutor>(filter: &DeliveryFilter, states: &[DeliveryState]) -> Statement {
    let conditions = conditions(filter);
    let scan = |state: &str| {
        format!(
            "
    SELECT id, event, topic, endpoint, created_at, state, attempts, due_at FROM forum_api_deliveries
    WHERE state = {state}{conditions}
        AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
    ORDER BY created_at DESC, id DESC LIMIT ?1",
            conditions = conditions.sql
        )
    };
    let states: Vec<_> = states.iter().map(|state| state.as_str()).collect();
    let sql = E::merge_scans(&states, scan);
    Statement {
        sql: format!(
            "SELECT {COLUMNS} FROM ({sql} ORDER BY created_at DESC, id DESC LIMIT ?1) AS listed
            LEFT JOIN forum_api_attempts ON delivery = listed.id
                AND number = (SELECT max(number) FROM forum_api_attempts WHERE delivery = listed.id)"
        )
        .into(),
        ..conditions
    }
}
