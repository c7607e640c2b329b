//! Delivery store.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use async_trait::async_trait;

use super::webhook_tables::{DeliveryRow, MemoryWebhookStore, WebhookTables};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::{DeliveryId, EndpointId, HOUR, Timestamp};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    EndpointStats, QueueStats, Settlement,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Endpoint, Event};

#[async_trait]
impl DeliveryStore for MemoryWebhookStore {
    async fn claim(&self, request: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch> {
        let mut tables = lock(&self.0);
        let (ids, next_due_at) = request.pick(
            tables.pending(request, false),
            tables.pending(request, true),
            now,
        );
        let until = now.saturating_add(request.lease_duration);
        let claimed = ids.iter().filter_map(|id| tables.lease(id, until));
        Ok(ClaimBatch {
            deliveries: claimed.collect(),
            next_due_at,
        })
    }

    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let mut tables = lock(&self.0);
        let begun = claimed.iter().filter(|one| tables.begin_sending(one, now));
        Ok(begun.map(|one| one.delivery.id.clone()).collect())
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let mut tables = lock(&self.0);
        let settled = settlements.iter().filter(|one| tables.settle(one, now));
        Ok(settled.map(|one| one.delivery_id.clone()).collect())
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        delay: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let mut tables = lock(&self.0);
        let due_at = now.saturating_add(delay);
        for one in claimed {
            if tables.is_current_lease(&one.delivery.id, one.lease_id) {
                let release =
                    |row: &mut DeliveryRow| row.release(one.previous_lease_expired, due_at);
                tables.rows.change(&one.delivery.id, release);
            }
        }
        Ok(())
    }

    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        let tables = lock(&self.0);
        let enabled = tables.endpoints.iter().filter(|endpoint| endpoint.enabled);
        let pending = enabled.flat_map(|endpoint| tables.rows.pending(&endpoint.id, u32::MAX));
        let due: Vec<_> = pending
            .map(|(due_at, _)| due_at)
            .filter(|due| *due <= now)
            .collect();
        let is_dead = |row: &&DeliveryRow| row.delivery.progress.state == DeliveryState::Dead;
        let dead = tables
            .rows
            .all()
            .filter(is_dead)
            .filter(|row| tables.endpoint(&row.delivery.endpoint_id).is_some());
        let disabled = tables.endpoints.iter().filter(|endpoint| !endpoint.enabled);
        Ok(QueueStats {
            depth: QueueStats::MAX_DEPTH.min(due.len() as u64),
            oldest_due_at: due.into_iter().min(),
            dead: QueueStats::MAX_DEPTH.min(dead.count() as u64),
            disabled_endpoints: disabled.count() as u64,
        })
    }

    async fn delivery_stats(
        &self,
        since: Timestamp,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>> {
        let tables = lock(&self.0);
        let mut counts = HashMap::new();
        let rows = tables.rows.all();
        for row in rows.filter(|row| tables.endpoint(&row.delivery.endpoint_id).is_some()) {
            let Delivery {
                endpoint_id,
                created_at,
                progress,
                ..
            } = &row.delivery;
            if *created_at > since {
                let hours_ago =
                    now.saturating_duration_since(*created_at).as_secs() / HOUR.as_secs();
                *counts
                    .entry((hours_ago, endpoint_id.clone(), progress.state))
                    .or_default() += 1;
            }
        }
        let count = |((hours_ago, endpoint_id, state), count)| DeliveryCount {
            hours_ago,
            endpoint_id,
            state,
            count,
        };
        Ok(counts.into_iter().map(count).collect())
    }

    async fn endpoint_stats(&self, since: Timestamp) -> BackendResult<Vec<EndpointStats>> {
        Ok(lock(&self.0).endpoint_stats(since))
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let mut tables = lock(&self.0);
        if tables.enabled_endpoint(endpoint).is_none() {
            return Ok(None);
        }
        tables.events.insert(event);
        Ok(Some(tables.enqueue(event, endpoint, now)))
    }

    async fn retry(
        &self,
        id: &DeliveryId,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let retried = tables.retry(id, now);
        tables.audit.record(audit, retried.into());
        Ok(retried)
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let mut tables = lock(&self.0);
        let is_dead = |delivery: &Delivery| {
            delivery.endpoint_id == *endpoint && delivery.progress.state == DeliveryState::Dead
        };
        let all = tables.rows.newest(None).map(|row| &row.delivery);
        let dead: Vec<_> = all
            .filter(|delivery| is_dead(delivery))
            .take(limit as usize)
            .map(|delivery| delivery.id.clone())
            .collect();
        let retried = dead.iter().filter(|id| tables.retry(id, now));
        let count = retried.count() as u64;
        tables.audit.record(audit, count);
        Ok(count)
    }

    async fn remove(&self, id: &DeliveryId, audit: &AuditEntry) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let exists = tables.row(id).is_some();
        if exists {
            tables.remove(id);
        }
        tables.audit.record(audit, exists.into());
        Ok(exists)
    }

    async fn purge(
        &self,
        state: DeliveryState,
        before: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64> {
        let mut tables = lock(&self.0);
        let is_old = |row: &&DeliveryRow| {
            let Delivery {
                progress,
                created_at,
                endpoint_id,
                ..
            } = &row.delivery;
            progress.state == state
                && progress.due_at.is_none()
                && *created_at < before
                && tables.endpoint(endpoint_id).is_some()
        };
        let old = tables.rows.all().filter(is_old);
        let position = |row: &DeliveryRow| (row.delivery.created_at, row.delivery.id.clone());
        let mut old: Vec<_> = old.map(position).collect();
        old.sort_unstable();
        old.truncate(limit as usize);
        old.iter().for_each(|(_, id)| tables.remove(id));
        tables.audit.record(audit, old.len() as u64);
        Ok(old.len() as u64)
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        let tables = lock(&self.0);
        let row = tables.row(id);
        Ok(row.map(|row| (row.delivery.clone(), row.attempts.iter().cloned().collect())))
    }

    async fn list(&self, filter: &DeliveryFilter) -> BackendResult<Vec<Delivery>> {
        let tables = lock(&self.0);
        let newest = tables.rows.newest(filter.after.as_ref());
        let listed = newest
            .filter(|row| {
                row.matches(filter) && tables.endpoint(&row.delivery.endpoint_id).is_some()
            })
            .map(|row| row.delivery.clone());
        Ok(listed.take(filter.limit as usize).collect())
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> BackendResult<u64> {
        let mut tables = lock(&self.0);
        let expired = tables.rows.all().filter(|row| {
            let ended = row.ended_at.is_some_and(|ended_at| ended_at < before);
            ended || tables.endpoint(&row.delivery.endpoint_id).is_none()
        });
        let mut swept: Vec<_> = expired
            .map(|row| (row.ended_at, row.delivery.id.clone()))
            .collect();
        swept.sort_unstable();
        swept.truncate(limit as usize);
        swept.iter().for_each(|(_, id)| tables.remove(id));
        Ok(swept.len() as u64)
    }
}

impl WebhookTables {
    /// Returns the pending deliveries for which their endpoints have capacity: of the endpoints whose last attempt
    /// failed if `is_failing`, otherwise of the other endpoints.
    fn pending(&self, request: &ClaimRequest, is_failing: bool) -> Vec<(Timestamp, DeliveryId)> {
        let enabled = self
            .endpoints
            .iter()
            .filter(|endpoint| endpoint.enabled)
            .filter(|one| one.failing_since.is_some() == is_failing);
        let pending = |id| self.rows.pending(id, request.capacity_for(id));
        enabled.flat_map(|endpoint| pending(&endpoint.id)).collect()
    }

    fn endpoint_stats(&self, since: Timestamp) -> Vec<EndpointStats> {
        let stats = |endpoint: &Endpoint| EndpointStats {
            endpoint_id: endpoint.id.clone(),
            delivered: 0,
            failed: 0,
            last: None,
        };
        let mut all: HashMap<_, _> = self
            .endpoints
            .iter()
            .map(|one| (&one.id, stats(one)))
            .collect();
        for row in self.rows.newest(None) {
            let delivery = &row.delivery;
            let state = delivery.progress.state;
            let is_attempted = !matches!(state, DeliveryState::Queued | DeliveryState::Withheld);
            let Some(stats) = all.get_mut(&delivery.endpoint_id).filter(|_| is_attempted) else {
                continue;
            };
            if delivery.created_at > since {
                match state {
                    DeliveryState::Delivered => stats.delivered += 1,
                    _ => stats.failed += 1,
                }
            }
            if stats.last.is_none() {
                stats.last = row.last_delivery();
            }
        }
        all.into_values().collect()
    }

    fn lease(&mut self, id: &DeliveryId, until: Timestamp) -> Option<ClaimedDelivery> {
        let row = self.rows.get(id)?;
        let claimed = ClaimedDelivery {
            delivery: row.delivery.clone(),
            endpoint: self.endpoint(&row.delivery.endpoint_id)?.clone(),
            event: self.events.get(&row.delivery.event_id)?.clone(),
            previous_lease_expired: row.sending,
            lease_id: row.lease_id + 1,
            lease_expires_at: until,
        };
        self.rows.change(id, |row| row.take_lease(until));
        Some(claimed)
    }

    /// Records that sending begins. Returns `false` if the lease was replaced or has expired.
    fn begin_sending(&mut self, claimed: &ClaimedDelivery, now: Timestamp) -> bool {
        let id = &claimed.delivery.id;
        let is_leased = |row: &DeliveryRow| row.lease_id == claimed.lease_id && row.is_leased(now);
        let is_leased = self.row(id).is_some_and(is_leased);
        if is_leased {
            self.rows.change(id, |row| row.sending = true);
        }
        is_leased
    }

    /// Returns `true` if the delivery was queued again or made due.
    fn retry(&mut self, id: &DeliveryId, now: Timestamp) -> bool {
        let row = self.row(id).filter(|row| !row.is_leased(now));
        let requeued = row.and_then(|row| row.delivery.progress.requeued(now));
        if let Some(progress) = requeued {
            self.rows.change(id, |row| row.retry(progress));
        }
        requeued.is_some()
    }

    /// Records the result of an attempt. Returns `false` if the lease was replaced.
    fn settle(&mut self, settlement: &Settlement, now: Timestamp) -> bool {
        let is_current = self.is_current_lease(&settlement.delivery_id, settlement.lease_id);
        if is_current {
            let settle = |row: &mut DeliveryRow| row.settle(settlement, now);
            self.rows.change(&settlement.delivery_id, settle);
            self.record_health(settlement, now);
        }
        is_current
    }

    /// Records the success or the failure of the attempt at the endpoint.
    fn record_health(&mut self, settlement: &Settlement, now: Timestamp) {
        let Some((row, succeeded)) = self
            .row(&settlement.delivery_id)
            .zip(settlement.succeeded())
        else {
            return;
        };
        let id = row.delivery.endpoint_id.clone();
        if let Some(endpoint) = self.endpoints.iter_mut().find(|one| one.id == id) {
            let failing_since = endpoint.failing_since.unwrap_or(now);
            endpoint.failing_since = (!succeeded).then_some(failing_since);
        }
    }

    fn is_current_lease(&self, id: &DeliveryId, lease_id: i64) -> bool {
        self.row(id).is_some_and(|row| row.lease_id == lease_id)
    }
}
