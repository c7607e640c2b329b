//! Delivery store.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use async_trait::async_trait;

use super::webhook_tables::{DeliveryRow, MemoryWebhookStore, WebhookTables};
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    QueueStats, Settlement, Usage, lock,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Event};

#[async_trait]
impl DeliveryStore for MemoryWebhookStore {
    async fn claim(&self, claim: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch> {
        let mut tables = lock(&self.0);
        let (taken, next) = claim.pick(tables.pending(claim), now);
        let until = now.saturating_add(claim.lease);
        let taken = taken.iter().filter_map(|id| tables.take_lease(id, until));
        Ok(ClaimBatch {
            deliveries: taken.collect(),
            next_due_at: next,
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
        Ok(settled.map(|one| one.delivery.clone()).collect())
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        wait: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let mut tables = lock(&self.0);
        let due_at = now.saturating_add(wait);
        for one in claimed {
            if tables.holds(&one.delivery.id, one.lease_id) {
                let release = |row: &mut DeliveryRow| row.release(one.lease_expired, due_at);
                tables.rows.change(&one.delivery.id, release);
            }
        }
        Ok(())
    }

    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        let tables = lock(&self.0);
        let enabled = tables.endpoints.iter().filter(|endpoint| endpoint.enabled);
        let pending = enabled.flat_map(|endpoint| tables.rows.due(&endpoint.id, u32::MAX));
        let due = pending.map(|(due_at, _)| due_at).filter(|due| *due <= now);
        let backlog = due.fold(QueueStats::default(), |backlog, due| QueueStats {
            depth: backlog.depth + 1,
            oldest_due_at: Some(backlog.oldest_due_at.map_or(due, |since| since.min(due))),
        });
        Ok(QueueStats {
            depth: backlog.depth.min(QueueStats::MAX_DEPTH),
            ..backlog
        })
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> BackendResult<Usage> {
        let tables = lock(&self.0);
        let mut counts = HashMap::new();
        let mut attempt_times = [0; 6];
        let rows = tables.rows.all();
        for row in rows.filter(|row| tables.endpoint(&row.delivery.endpoint).is_some()) {
            let Delivery {
                endpoint,
                created_at,
                progress,
                ..
            } = &row.delivery;
            if *created_at > since {
                let hours_ago = now.saturating_duration_since(*created_at).as_secs() / 3600;
                *counts
                    .entry((hours_ago, endpoint.clone(), progress.state))
                    .or_default() += 1;
            }
            for attempt in row.attempts.iter().filter(|one| one.at > since) {
                let bounds = Usage::ATTEMPT_TIME_BOUNDS;
                let group = bounds.partition_point(|bound| *bound <= attempt.duration_ms);
                if let Some(count) = attempt_times.get_mut(group) {
                    *count += 1;
                }
            }
        }
        let count = |((hours_ago, endpoint, state), count)| DeliveryCount {
            hours_ago,
            endpoint,
            state,
            count,
        };
        Ok(Usage {
            deliveries: counts.into_iter().map(count).collect(),
            attempt_times,
        })
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let mut tables = lock(&self.0);
        if tables.enabled(endpoint).is_none() {
            return Ok(None);
        }
        tables.events.add(event);
        Ok(Some(tables.queue(event, endpoint, now)))
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool> {
        Ok(lock(&self.0).retry(id, now))
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
    ) -> BackendResult<u64> {
        let mut tables = lock(&self.0);
        let is_dead = |delivery: &Delivery| {
            delivery.endpoint == *endpoint && delivery.progress.state == DeliveryState::Dead
        };
        let all = tables.rows.newest(None).map(|row| &row.delivery);
        let dead = all
            .filter(|delivery| is_dead(delivery))
            .take(limit as usize);
        let dead: Vec<_> = dead.map(|delivery| delivery.id.clone()).collect();
        let retried = dead.iter().filter(|id| tables.retry(id, now));
        Ok(retried.count() as u64)
    }

    async fn remove(&self, id: &DeliveryId) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let is_there = tables.row(id).is_some();
        if is_there {
            tables.remove(id);
        }
        Ok(is_there)
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        let tables = lock(&self.0);
        let found = tables.row(id);
        Ok(found.map(|row| (row.delivery.clone(), row.attempts.iter().cloned().collect())))
    }

    async fn list(&self, filter: &DeliveryFilter) -> BackendResult<Vec<Delivery>> {
        let tables = lock(&self.0);
        let newest = tables.rows.newest(filter.after.as_ref());
        let listed = newest
            .filter(|row| row.passes(filter) && tables.endpoint(&row.delivery.endpoint).is_some());
        let listed = listed.map(|row| row.delivery.clone());
        Ok(listed.take(filter.limit as usize).collect())
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> BackendResult<u64> {
        let mut tables = lock(&self.0);
        let over = tables.rows.all().filter(|row| {
            let ended = row.ended_at.is_some_and(|ended_at| ended_at < before);
            ended || tables.endpoint(&row.delivery.endpoint).is_none()
        });
        let mut swept: Vec<_> = over
            .map(|row| (row.ended_at, row.delivery.id.clone()))
            .collect();
        swept.sort_unstable();
        swept.truncate(limit as usize);
        swept.iter().for_each(|(_, id)| tables.remove(id));
        Ok(swept.len() as u64)
    }
}

impl WebhookTables {
    /// What a claim may take, or has to wait for.
    fn pending(&self, claim: &ClaimRequest) -> Vec<(Timestamp, DeliveryId)> {
        let enabled = self.endpoints.iter().filter(|endpoint| endpoint.enabled);
        let due = |id| self.rows.due(id, claim.capacity_for(id));
        enabled.flat_map(|endpoint| due(&endpoint.id)).collect()
    }

    fn take_lease(&mut self, id: &DeliveryId, until: Timestamp) -> Option<ClaimedDelivery> {
        let row = self.rows.get(id)?;
        let claimed = ClaimedDelivery {
            delivery: row.delivery.clone(),
            endpoint: self.endpoint(&row.delivery.endpoint)?.clone(),
            event: self.events.get(&row.delivery.event)?.clone(),
            lease_expired: row.sending,
            lease_id: row.lease + 1,
            lease_until: until,
        };
        self.rows.change(id, |row| row.take_lease(until));
        Some(claimed)
    }

    /// Returns whether the lease is in force and has not expired; then sending begins.
    fn begin_sending(&mut self, claimed: &ClaimedDelivery, now: Timestamp) -> bool {
        let id = &claimed.delivery.id;
        let is_held = |row: &DeliveryRow| row.lease == claimed.lease_id && row.holds_lease(now);
        let begins = self.row(id).is_some_and(is_held);
        if begins {
            self.rows.change(id, |row| row.sending = true);
        }
        begins
    }

    /// Returns whether the delivery was queued again, or made due.
    fn retry(&mut self, id: &DeliveryId, now: Timestamp) -> bool {
        let idle = self.row(id).filter(|row| !row.holds_lease(now));
        let retried = idle.and_then(|row| row.delivery.progress.requeued(now));
        if let Some(progress) = retried {
            self.rows.change(id, |row| row.retry(progress));
        }
        retried.is_some()
    }

    /// Whether the lease was still in force; it is not from now on.
    fn settle(&mut self, settlement: &Settlement, now: Timestamp) -> bool {
        let holds = self.holds(&settlement.delivery, settlement.lease_id);
        if holds {
            let settle = |row: &mut DeliveryRow| row.settle(settlement, now);
            self.rows.change(&settlement.delivery, settle);
        }
        holds
    }

    /// Whether the lease is still in force.
    fn holds(&self, id: &DeliveryId, lease: i64) -> bool {
        self.row(id).is_some_and(|row| row.lease == lease)
    }
}
