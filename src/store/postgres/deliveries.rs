//! Delivery store: settle, release, retry, lists, sweep.
//!
//! Concurrent statements do not deadlock: a statement that locks an event and its deliveries locks the event first, and a
//! statement that locks several rows of a table locks them in the order of their ids, or skips locked rows.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use super::execute::{Parameters, PostgresExecutor, millis};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{CLOCK_TOLERANCE, DeliveryId, EndpointId, Timestamp};
use crate::store::sql::{
    self, Columns, Statement, query_readable, read_delivery_count, read_endpoint_stats,
    read_queue_stats, readable,
};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    DueTimeLimits, EndpointStats, LibraryStore, MAX_LEASE, MAX_STORED_ATTEMPTS, QueueStats,
    Settlement, retention_starts_at,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Event};

const BEGIN_SENDING: &str = include_str!("sql/begin_sending.sql");
const SETTLE: &str = include_str!("sql/settle.sql");
const RELEASE: &str = include_str!("sql/release.sql");
const CORRECT_TIMES: &str = include_str!("sql/correct_times.sql");
const QUEUE_STATS: &str = include_str!("sql/queue_stats.sql");
const DELIVERY_STATS: &str = include_str!("sql/delivery_stats.sql");
const ENDPOINT_STATS: &str = include_str!("sql/endpoint_stats.sql");
const ENQUEUE: &str = include_str!("sql/enqueue.sql");
const RETRY: &str = include_str!("sql/retry.sql");
const RETRY_DEAD: &str = include_str!("sql/retry_dead.sql");
const REMOVE: &str = include_str!("sql/remove.sql");
const PURGE: &str = include_str!("sql/purge_deliveries.sql");
const SWEEP: &str = include_str!("sql/sweep.sql");

impl LibraryStore for PostgresExecutor {}

#[async_trait]
impl DeliveryStore for PostgresExecutor {
    async fn claim(&self, request: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch> {
        self.claim_due(request, now).await
    }

    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let (ids, leases) = leases(claimed);
        let parameters: Parameters<'_> = &[&ids, &leases, &self.clock.time(now)];
        let begun = self.all(BEGIN_SENDING, parameters, |row| row.value("id")).await?;
        Ok(begun.into_iter().collect())
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        fn each<'a, T>(
            settlements: &'a [Settlement],
            value: impl Fn(&'a Settlement) -> T,
        ) -> Vec<T> {
            settlements.iter().map(value).collect()
        }
        fn attempted<'a, T>(
            settlements: &'a [Settlement],
            value: impl Fn(&'a AttemptRecord) -> T,
        ) -> Vec<Option<T>> {
            each(settlements, |one| one.attempt.as_ref().map(&value))
        }
        fn texts(
            settlements: &[Settlement],
            text: impl Fn(&AttemptRecord) -> Option<&String>,
        ) -> Vec<Option<&String>> {
            let text = |attempt| text(attempt);
            each(settlements, |one| one.attempt.as_ref().and_then(text))
        }
        let due_in = |one: &Settlement| {
            let due_at = one.progress.due_at;
            due_at.map(|due_at| due_at.as_millis().saturating_sub(now.as_millis()))
        };
        let given = settlements;
        let settled = self
            .all(
                SETTLE,
                &[
                    &i64::from(MAX_STORED_ATTEMPTS),
                    &self.clock.time(now),
                    &each(given, |one| &one.delivery_id),
                    &each(given, |one| one.lease_id),
                    &each(given, |one| one.progress.state),
                    &each(given, |one| integer(one.progress.attempts)),
                    &each(given, due_in),
                    &each(given, |one| retention_starts_at(&one.progress, now).is_some()),
                    &attempted(given, |one| integer(one.attempt)),
                    &attempted(given, |one| one.started_at),
                    &each(given, |one| one.attempt.as_ref()?.status.map(i32::from)),
                    &texts(given, |one| Some(&one.error.as_ref()?.reason)),
                    &attempted(given, AttemptRecord::is_sent),
                    &attempted(given, |one| i64::try_from(one.duration_ms).unwrap_or(i64::MAX)),
                    &texts(given, |one| one.response_excerpt.as_ref()),
                    &texts(given, |one| one.request_headers.as_ref()),
                    &texts(given, |one| one.response_headers.as_ref()),
                ],
                |row| row.value("id"),
            )
            .await?;
        Ok(settled.into_iter().collect())
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        delay: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let (ids, leases) = leases(claimed);
        let expired: Vec<_> = claimed.iter().map(|one| one.previous_lease_expired).collect();
        let now = self.clock.time(now);
        let delay = millis(delay);
        self.execute(RELEASE, &[&ids, &leases, &expired, &now, &delay]).await?;
        Ok(())
    }

    async fn correct_times(&self, limits: DueTimeLimits, now: Timestamp) -> BackendResult<u64> {
        let limits = limits.with_tolerance();
        let parameters: Parameters<'_> = &[
            &self.clock.time(now),
            &millis(limits.lease),
            &millis(limits.delay),
            &millis(CLOCK_TOLERANCE),
        ];
        let read = |row: &dyn Columns| row.value::<i64>("corrected");
        let corrected = self.first(CORRECT_TIMES, parameters, read).await?;
        Ok(corrected.unwrap_or_default().unsigned_abs())
    }

    async fn queue_stats(
        &self,
        limits: DueTimeLimits,
        now: Timestamp,
    ) -> BackendResult<QueueStats> {
        let max_depth = i64::try_from(QueueStats::MAX_DEPTH).unwrap_or(i64::MAX);
        let now = self.clock.time(now);
        let limits = limits.with_tolerance();
        let parameters: Parameters<'_> =
            &[&now, &max_depth, &millis(limits.lease), &millis(limits.delay)];
        let stats = self.first(QUEUE_STATS, parameters, read_queue_stats).await?;
        Ok(stats.unwrap_or_default())
    }

    async fn delivery_stats(
        &self,
        since: Timestamp,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>> {
        let parameters: Parameters<'_> = &[&since, &now, &DeliveryState::ALL];
        let read = readable("deliveries", read_delivery_count);
        let counts = self.read(DELIVERY_STATS, parameters, read).await?;
        Ok(counts.into_iter().flatten().collect())
    }

    async fn endpoint_stats(&self, since: Timestamp) -> BackendResult<Vec<EndpointStats>> {
        let stats = Statement::new(ENDPOINT_STATS, [since.into()]);
        query_readable(self, "endpoints", stats, read_endpoint_stats).await
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let id = DeliveryId::derive(&event.id, endpoint);
        let parameters: Parameters<'_> = &[
            &event.id,
            &event.topic,
            &event.occurred_at,
            &event.forum_id,
            &event.body,
            &id,
            endpoint,
            &self.clock.time(now),
            &event.request_id,
        ];
        let queued = self.query(ENQUEUE, parameters).await?;
        Ok((!queued.is_empty()).then_some(id))
    }

    async fn retry(
        &self,
        id: &DeliveryId,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut finished = DeliveryState::ALL.to_vec();
        finished.retain(|state| !state.is_pending());
        let parameters: Parameters<'_> =
            &[id, &self.clock.time(now), &finished, &millis(MAX_LEASE)];
        Ok(self.execute_audited(RETRY, parameters, audit).await? > 0)
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let parameters: Parameters<'_> = &[endpoint, &self.clock.time(now), &i64::from(limit)];
        Ok(self.execute_audited(RETRY_DEAD, parameters, audit).await?)
    }

    async fn remove(&self, id: &DeliveryId, audit: &AuditEntry) -> BackendResult<bool> {
        Ok(self.execute_audited(REMOVE, &[id], audit).await? > 0)
    }

    async fn purge(
        &self,
        state: DeliveryState,
        before: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let parameters: Parameters<'_> = &[&state, &before, &i64::from(limit)];
        Ok(self.execute_audited(PURGE, parameters, audit).await?)
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        sql::deliveries::find(self, id).await
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

    async fn sweep(&self, before: Timestamp, limit: u32) -> BackendResult<u64> {
        Ok(self.execute(SWEEP, &[&before, &i64::from(limit)]).await?)
    }
}

fn leases(claimed: &[ClaimedDelivery]) -> (Vec<&DeliveryId>, Vec<i64>) {
    let leases = claimed.iter().map(|one| (&one.delivery.id, one.lease_id));
    leases.unzip()
}

fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
