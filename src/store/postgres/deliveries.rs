//! Delivery store: settle, release, retry, lists, sweep.
//!
//! Concurrent statements do not deadlock: a statement that locks an event and its deliveries locks the event first, and a
//! statement that locks several rows of a table locks them in the order of their ids, or skips locked rows.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use super::Parameter;
use super::execute::{PostgresExecutor, millis};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{CLOCK_TOLERANCE, DeliveryId, EndpointId, Timestamp};
use crate::store::sql::{
    self, Columns, Statement, query_readable, read_delivery_count, read_endpoint_stats,
    read_queue_stats, readable,
};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    EndpointStats, MAX_STORED_ATTEMPTS, QueueStats, Settlement, retention_starts_at,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Event};

const BEGIN_SENDING: &str = include_str!("sql/begin_sending.sql");
const SETTLE: &str = include_str!("sql/settle.sql");
const RELEASE: &str = include_str!("sql/release.sql");
const IS_SENDING: &str = "
    SELECT FROM forum_api_deliveries
    WHERE id = $1 AND leased AND sending
        AND due_at > coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)";
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
        let parameters = [delivery_ids(claimed), leases(claimed), self.clock.time(now).into()];
        let begun = self.all(BEGIN_SENDING, parameters, |row| row.value("id")).await?;
        Ok(begun.into_iter().collect())
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let due_in = |one: &Settlement| {
            let due_at = one.progress.due_at;
            due_at.map(|due_at| due_at.as_millis().saturating_sub(one.computed_at.as_millis()))
        };
        let has_ended = |one: &Settlement| retention_starts_at(&one.progress, now).is_some();
        let parameters = [
            i64::from(MAX_STORED_ATTEMPTS).into(),
            self.clock.time(now).into(),
            Parameter::texts(settlements.iter().map(|one| &one.delivery_id)),
            Parameter::integers(settlements.iter().map(|one| one.lease_id)),
            Parameter::texts(settlements.iter().map(|one| one.progress.state)),
            Parameter::integers(settlements.iter().map(|one| one.progress.attempts)),
            Parameter::Integers(settlements.iter().map(due_in).collect()),
            Parameter::booleans(settlements.iter().map(has_ended)),
            attempt_integers(settlements, |attempt| Some(attempt.attempt.into())),
            attempt_integers(settlements, |attempt| Some(attempt.started_at.as_millis())),
            attempt_integers(settlements, |attempt| attempt.status.map(Into::into)),
            attempt_texts(settlements, |attempt| Some(&attempt.error.as_ref()?.reason)),
            Parameter::Booleans(of_attempts(settlements, |attempt| Some(attempt.is_sent()))),
            attempt_integers(settlements, |attempt| {
                Some(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX))
            }),
            attempt_texts(settlements, |attempt| attempt.response_excerpt.as_ref()),
            attempt_texts(settlements, |attempt| attempt.request_headers.as_ref()),
            attempt_texts(settlements, |attempt| attempt.response_headers.as_ref()),
        ];
        let settled = self.all(SETTLE, parameters, |row| row.value("id")).await?;
        Ok(settled.into_iter().collect())
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        delay: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let parameters = [
            delivery_ids(claimed),
            leases(claimed),
            Parameter::booleans(claimed.iter().map(|one| one.previous_lease_expired)),
            self.clock.time(now).into(),
            millis(delay).into(),
        ];
        self.execute(RELEASE, parameters).await?;
        Ok(())
    }

    async fn correct_times(&self, now: Timestamp) -> BackendResult<u64> {
        let parameters = [self.clock.time(now).into(), millis(CLOCK_TOLERANCE).into()];
        let read = |row: &dyn Columns| row.value::<i64>("corrected");
        let corrected = self.first(CORRECT_TIMES, parameters, read).await?;
        Ok(corrected.unwrap_or_default().unsigned_abs())
    }

    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        let max_depth = i64::try_from(QueueStats::MAX_DEPTH).unwrap_or(i64::MAX);
        let parameters =
            [self.clock.time(now).into(), max_depth.into(), millis(CLOCK_TOLERANCE).into()];
        let stats = self.read(QUEUE_STATS, &parameters, read_queue_stats).await?;
        Ok(stats.into_iter().next().unwrap_or_default())
    }

    async fn delivery_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>> {
        let parameters = [
            self.clock.time(now).into(),
            millis(period).into(),
            Parameter::texts(DeliveryState::ALL),
            i64::from(DeliveryCount::MAX_DELIVERIES).into(),
        ];
        let read = readable("deliveries", read_delivery_count);
        let counts = self.read(DELIVERY_STATS, &parameters, read).await?;
        Ok(counts.into_iter().flatten().collect())
    }

    async fn endpoint_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<EndpointStats>> {
        let parameters =
            [self.clock.time(now).into(), period.into(), EndpointStats::MAX_DELIVERIES.into()];
        let stats = Statement::new(ENDPOINT_STATS, parameters);
        query_readable(self, "endpoints", stats, read_endpoint_stats).await
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let id = DeliveryId::derive(&event.id, endpoint);
        let parameters = [
            (&event.id).into(),
            (&event.topic).into(),
            event.occurred_at.into(),
            event.forum_id.as_ref().into(),
            event.body.as_str().into(),
            (&id).into(),
            endpoint.into(),
            self.clock.time(now).into(),
            event.request_id.as_deref().into(),
        ];
        let queued = self.first(ENQUEUE, parameters, |_| Ok(())).await?;
        Ok(queued.map(|()| id))
    }

    async fn retry(
        &self,
        id: &DeliveryId,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let finished = DeliveryState::ALL.iter().filter(|state| !state.is_pending());
        let parameters = vec![
            id.into(),
            self.clock.time(now).into(),
            Parameter::texts(finished),
            millis(CLOCK_TOLERANCE).into(),
        ];
        Ok(self.execute_audited(RETRY, parameters, audit).await? > 0)
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let parameters = vec![
            endpoint.into(),
            self.clock.time(now).into(),
            limit.into(),
            millis(CLOCK_TOLERANCE).into(),
        ];
        Ok(self.execute_audited(RETRY_DEAD, parameters, audit).await?)
    }

    async fn remove(&self, id: &DeliveryId, audit: &AuditEntry) -> BackendResult<bool> {
        Ok(self.execute_audited(REMOVE, vec![id.into()], audit).await? > 0)
    }

    async fn purge(
        &self,
        state: DeliveryState,
        age: Duration,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let parameters =
            vec![(&state).into(), self.clock.time(now).into(), millis(age).into(), limit.into()];
        Ok(self.execute_audited(PURGE, parameters, audit).await?)
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        sql::deliveries::find(self, id).await
    }

    async fn is_sending(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool> {
        let parameters = [id.into(), self.clock.time(now).into()];
        let sending = self.read(IS_SENDING, &parameters, |_| Ok(())).await?;
        Ok(!sending.is_empty())
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
        let parameters = [self.clock.time(now).into(), millis(retention).into(), limit.into()];
        Ok(self.execute(SWEEP, parameters).await?)
    }
}

fn delivery_ids(claimed: &[ClaimedDelivery]) -> Parameter {
    Parameter::texts(claimed.iter().map(|one| &one.delivery.id))
}

fn leases(claimed: &[ClaimedDelivery]) -> Parameter {
    Parameter::integers(claimed.iter().map(|one| one.lease_id))
}

/// Returns a value of each settlement's attempt. The value is null without an attempt.
fn of_attempts<'a, T>(
    settlements: &'a [Settlement],
    value: impl Fn(&'a AttemptRecord) -> Option<T>,
) -> Vec<Option<T>> {
    settlements.iter().map(|one| one.attempt.as_ref().and_then(&value)).collect()
}

fn attempt_integers(
    settlements: &[Settlement],
    value: impl Fn(&AttemptRecord) -> Option<i64>,
) -> Parameter {
    Parameter::Integers(of_attempts(settlements, value))
}

fn attempt_texts<'a>(
    settlements: &'a [Settlement],
    value: impl Fn(&'a AttemptRecord) -> Option<&'a String>,
) -> Parameter {
    Parameter::Texts(of_attempts(settlements, |attempt| value(attempt).cloned()))
}
