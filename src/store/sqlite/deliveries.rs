//! Delivery store: settle, release, retry, sweep.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::execute::{Result, all, change, changes, first};
use super::outbox::{insert, mark_fanned_out, queue, remove_from_feed};
use super::{SqliteExecutor, claim, times};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{CLOCK_TOLERANCE, DeliveryId, EndpointId, Timestamp};
use crate::store::sql::{
    self, SqlExecutor as _, Statement, query_readable, read_delivery_count, read_endpoint_stats,
    read_queue_stats, readable, report_unreadable,
};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    EndpointStats, MAX_STORED_ATTEMPTS, QueueStats, Settlement, retention_starts_at,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Event};

const IS_ENABLED: &str = "SELECT 1 FROM forum_api_endpoints WHERE id = ?1 AND enabled";

const REMOVE: &str = "
    DELETE FROM forum_api_deliveries
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

const QUEUE_STATS: &str = include_str!("sql/queue_stats.sql");
const DELIVERY_COUNTS: &str = include_str!("sql/delivery_counts.sql");
const ENDPOINT_STATS: &str = include_str!("sql/endpoint_stats.sql");

const BEGIN_SENDING: &str = include_str!("sql/begin_sending.sql");
const SETTLE: &str = include_str!("sql/settle.sql");

const IS_SENDING: &str =
    "SELECT 1 FROM forum_api_deliveries WHERE id = ?1 AND leased AND sending AND due_at > ?2";

const RELEASE: &str = "
    UPDATE forum_api_deliveries SET due_at = ?3, due_set_at = ?5, lease = lease + 1, leased = FALSE, sending = ?4
    WHERE id = ?1 AND lease = ?2";

const RETRY: &str = include_str!("sql/retry.sql");
const RETRY_DEAD: &str = include_str!("sql/retry_dead.sql");
const ADD_ATTEMPT: &str = include_str!("sql/add_attempt.sql");

const DELETE_ATTEMPTS: &str = "DELETE FROM forum_api_attempts WHERE delivery = ?1 AND number <= ?2";

const DELETE_ENDED: &str = "
    DELETE FROM forum_api_deliveries WHERE rowid IN (
        SELECT rowid FROM forum_api_deliveries WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

const PURGE: &str = include_str!("sql/purge_deliveries.sql");

const RECORD_FAILURE: &str = "
    UPDATE forum_api_endpoints SET failing_since = coalesce(failing_since, ?3), is_slow = ?2
    WHERE id = (SELECT endpoint FROM forum_api_deliveries WHERE id = ?1) AND (failing_since IS NULL OR is_slow <> ?2)";

const RECORD_SUCCESS: &str = "
    UPDATE forum_api_endpoints SET failing_since = NULL, is_slow = ?2
    WHERE id = (SELECT endpoint FROM forum_api_deliveries WHERE id = ?1) AND (failing_since IS NOT NULL OR is_slow <> ?2)";

const DELETE_ORPHANS: &str = include_str!("sql/delete_orphans.sql");

#[async_trait]
impl DeliveryStore for SqliteExecutor {
    /// Finds the claimable deliveries on a reader, and then leases those that did not change. Starts again if other workers
    /// leased all of them.
    async fn claim(&self, request: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch> {
        loop {
            let sent = request.clone();
            let found =
                self.read(move |connection| claim::find_claimable(connection, &sent, now)).await?;
            if found.is_empty() {
                return Ok(ClaimBatch { deliveries: Vec::new(), next_due_at: found.next_due_at });
            }
            let until = now.saturating_add(request.lease_duration);
            let (batch, unreadable) = self
                .write(move |connection| claim::acquire_leases(connection, found, now, until))
                .await?;
            for (id, reason) in unreadable {
                report_unreadable("deliveries", &String::from_utf8_lossy(&id), &reason);
            }
            if !batch.deliveries.is_empty() {
                return Ok(batch);
            }
        }
    }

    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let leases: Vec<_> =
            claimed.iter().map(|one| (one.delivery.id.clone(), one.lease_id)).collect();
        self.write(move |connection| {
            let mut begun = HashSet::new();
            for (id, lease) in leases {
                if changes(connection, BEGIN_SENDING, params![id, lease, now])? {
                    begun.insert(id);
                }
            }
            Ok(begun)
        })
        .await
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let settlements = settlements.to_vec();
        self.write(move |connection| {
            let mut settled = HashSet::new();
            for settlement in settlements {
                if settle(connection, &settlement, now)? {
                    settled.insert(settlement.delivery_id);
                }
            }
            Ok(settled)
        })
        .await
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        delay: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let claimed = claimed.to_vec();
        let due_at = now.saturating_add(delay);
        self.write(move |connection| {
            for one in &claimed {
                let expired = one.previous_lease_expired;
                let row = params![one.delivery.id, one.lease_id, due_at, expired, now];
                change(connection, RELEASE, row)?;
            }
            Ok(())
        })
        .await
    }

    async fn correct_times(&self, now: Timestamp) -> BackendResult<u64> {
        let is_ahead = self.read(move |connection| times::is_any_ahead(connection, now)).await?;
        if !is_ahead {
            return Ok(0);
        }
        self.write(move |connection| times::correct(connection, now)).await
    }

    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        let max_depth = i64::try_from(QueueStats::MAX_DEPTH).unwrap_or(i64::MAX);
        let ahead = now.saturating_add(CLOCK_TOLERANCE);
        let parameters = [now.into(), max_depth.into(), ahead.into()];
        let stats = self.query(Statement::new(QUEUE_STATS, parameters), read_queue_stats).await?;
        Ok(stats.into_iter().next().unwrap_or_default())
    }

    async fn delivery_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>> {
        let since = now.saturating_sub(period);
        self.read(move |connection| {
            let mut counts = Vec::new();
            for &state in DeliveryState::ALL {
                let parameters = params![state, since, now, DeliveryCount::MAX_DELIVERIES];
                let read = readable("deliveries", read_delivery_count);
                let of_state = all(connection, DELIVERY_COUNTS, parameters, read)?;
                counts.extend(of_state.into_iter().flatten());
            }
            Ok(counts)
        })
        .await
    }

    async fn endpoint_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<EndpointStats>> {
        let since = now.saturating_sub(period);
        let parameters = [since.into(), EndpointStats::MAX_DELIVERIES.into()];
        let stats = Statement::new(ENDPOINT_STATS, parameters);
        query_readable(self, "endpoints", stats, read_endpoint_stats).await
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let event = event.clone();
        let endpoint = endpoint.clone();
        self.write(move |connection| {
            if first(connection, IS_ENABLED, [&endpoint], |_| Ok(()))?.is_none() {
                return Ok(None);
            }
            if insert(connection, &event)? {
                mark_fanned_out(connection, &event.id, now)?;
                queue(connection, &event.id, &endpoint, now)?;
                remove_from_feed(connection, &event.id)?;
            } else {
                queue(connection, &event.id, &endpoint, now)?;
            }
            Ok(Some(DeliveryId::derive(&event.id, &endpoint)))
        })
        .await
    }

    async fn retry(
        &self,
        id: &DeliveryId,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let ahead = now.saturating_add(CLOCK_TOLERANCE);
        let retry = Statement::new(RETRY, [id.into(), now.into(), ahead.into()]);
        Ok(self.change_audited(retry, audit).await? > 0)
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let ahead = now.saturating_add(CLOCK_TOLERANCE);
        let parameters = [endpoint.into(), now.into(), limit.into(), ahead.into()];
        let retry = Statement::new(RETRY_DEAD, parameters);
        self.change_audited(retry, audit).await
    }

    async fn remove(&self, id: &DeliveryId, audit: &AuditEntry) -> BackendResult<bool> {
        let remove = Statement::new(REMOVE, [id.into()]);
        Ok(self.change_audited(remove, audit).await? > 0)
    }

    async fn purge(
        &self,
        state: DeliveryState,
        age: Duration,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let before = now.saturating_sub(age);
        let purge = Statement::new(PURGE, [(&state).into(), before.into(), limit.into()]);
        self.change_audited(purge, audit).await
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        sql::deliveries::find(self, id).await
    }

    async fn is_sending(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool> {
        let find = Statement::new(IS_SENDING, [id.into(), now.into()]);
        Ok(!self.query(find, |_| Ok(())).await?.is_empty())
    }

    async fn list(
        &self,
        filter: &DeliveryFilter,
    ) -> BackendResult<Vec<(Delivery, Option<AttemptRecord>)>> {
        sql::deliveries::list(self, filter).await
    }

    async fn count_dead(&self, endpoint: Option<&EndpointId>) -> BackendResult<u64> {
        sql::deliveries::count_dead(self, endpoint).await
    }

    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64> {
        let before = now.saturating_sub(retention);
        self.write(move |connection| {
            let orphans = change(connection, DELETE_ORPHANS, [limit])?;
            let rest = i64::from(limit) - orphans as i64;
            let ended = change(connection, DELETE_ENDED, params![before, rest])?;
            Ok((orphans + ended) as u64)
        })
        .await
    }
}

/// Records the result of an attempt. Returns `false`, and changes nothing, if the lease was replaced or
/// the endpoint was removed.
fn settle(connection: &Connection, settlement: &Settlement, now: Timestamp) -> Result<bool> {
    let Settlement { delivery_id, lease_id, progress, attempt, computed_at } = settlement;
    let status_class = attempt.as_ref().map(|one| one.status.unwrap_or_default() / 100);
    let row = params![
        delivery_id,
        lease_id,
        progress.state,
        progress.attempts,
        progress.due_at,
        retention_starts_at(progress, now),
        status_class,
        computed_at,
    ];
    let settled = changes(connection, SETTLE, row)?;
    if let Some(attempt) = attempt.as_ref().filter(|_| settled) {
        add_attempt(connection, delivery_id, attempt)?;
    }
    let is_slow = attempt.as_ref().is_some_and(|one| one.duration_ms > 1000);
    match settlement.succeeded().filter(|_| settled) {
        Some(true) => change(connection, RECORD_SUCCESS, params![delivery_id, is_slow])?,
        Some(false) => change(connection, RECORD_FAILURE, params![delivery_id, is_slow, now])?,
        None => 0,
    };
    Ok(settled)
}

/// Adds an attempt, and deletes those that exceed [`MAX_STORED_ATTEMPTS`].
fn add_attempt(connection: &Connection, id: &DeliveryId, attempt: &AttemptRecord) -> Result<()> {
    let row = params![
        id,
        attempt.attempt,
        attempt.started_at,
        attempt.status,
        attempt.error.as_ref().map(|error| &error.reason),
        attempt.is_sent(),
        i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX),
        attempt.response_excerpt,
        attempt.request_headers,
        attempt.response_headers,
    ];
    let number: Option<i64> = first(connection, ADD_ATTEMPT, row, |row| row.value("number"))?;
    let too_old = number.map(|number| number - i64::from(MAX_STORED_ATTEMPTS));
    if let Some(too_old) = too_old.filter(|number| *number > 0) {
        change(connection, DELETE_ATTEMPTS, params![id, too_old])?;
    }
    Ok(())
}
