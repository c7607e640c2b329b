//! Delivery store: settle, release, retry, sweep.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::execute::{all, change, changes, first, readable};
use super::outbox::{SqliteWebhookStore, insert, mark_fanned_out};
use super::{claim, lists};
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryFilter, DeliveryStore, MAX_STORED_ATTEMPTS,
    QueueStats, Settlement, Usage, ended_at, report_unreadable,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryProgress, DeliveryState, Event};

pub(super) const QUEUE: &str = include_str!("sql/enqueue.sql");

pub(super) const IS_ENABLED: &str = "SELECT 1 FROM forum_api_endpoints WHERE id = ?1 AND enabled";

pub(super) const FIND: &str = "
    SELECT * FROM forum_api_deliveries
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

pub(super) const REMOVE: &str = "
    DELETE FROM forum_api_deliveries
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

pub(super) const QUEUE_STATS: &str = include_str!("sql/queue_stats.sql");

pub(super) const ATTEMPTS: &str =
    "SELECT * FROM forum_api_attempts WHERE delivery = ?1 ORDER BY number";

pub(super) const BEGIN_SENDING: &str = include_str!("sql/begin_sending.sql");
pub(super) const SETTLE: &str = include_str!("sql/settle.sql");

pub(super) const RELEASE: &str = "
    UPDATE forum_api_deliveries SET due_at = ?3, lease = lease + 1, leased = FALSE, sending = ?4
    WHERE id = ?1 AND lease = ?2";

pub(super) const RETRY: &str = "
    UPDATE forum_api_deliveries SET state = ?2, attempts = ?3, due_at = ?4, ended_at = NULL
    WHERE id = ?1 AND NOT (leased AND due_at > ?5)";

pub(super) const RETRY_DEAD: &str = include_str!("sql/retry_dead.sql");
pub(super) const ADD_ATTEMPT: &str = include_str!("sql/add_attempt.sql");

pub(super) const FORGET_ATTEMPTS: &str =
    "DELETE FROM forum_api_attempts WHERE delivery = ?1 AND number <= ?2";

pub(super) const ENDED: &str = "
    DELETE FROM forum_api_deliveries WHERE rowid IN (
        SELECT rowid FROM forum_api_deliveries WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

pub(super) const LEFT_BEHIND: &str = include_str!("sql/sweep_left_behind.sql");
#[async_trait]
impl DeliveryStore for SqliteWebhookStore {
    /// Reads the claimable deliveries without the writer, and then leases those that did not change. If other workers took
    /// all of them, it starts again.
    async fn claim(&self, claim: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch> {
        loop {
            let request = claim.clone();
            let find =
                move |connection: &Connection| claim::find_claimable(connection, &request, now);
            let found = self.read(find).await?;
            if found.is_empty() {
                return Ok(ClaimBatch {
                    deliveries: Vec::new(),
                    next_due_at: found.next,
                });
            }
            let until = now.saturating_add(claim.lease);
            let acquire =
                move |connection: &Connection| claim::acquire_leases(connection, found, now, until);
            let (claims, unreadable) = self.write(acquire).await?;
            for (id, reason) in unreadable {
                report_unreadable("deliveries", &String::from_utf8_lossy(&id), &reason);
            }
            if !claims.deliveries.is_empty() {
                return Ok(claims);
            }
        }
    }

    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>> {
        let leases = claimed
            .iter()
            .map(|one| (one.delivery.id.clone(), one.lease_id));
        let leases: Vec<_> = leases.collect();
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
                    settled.insert(settlement.delivery);
                }
            }
            Ok(settled)
        })
        .await
    }

    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        wait: Duration,
        now: Timestamp,
    ) -> BackendResult<()> {
        let (claimed, due_at) = (claimed.to_vec(), now.saturating_add(wait));
        self.write(move |connection| {
            for one in &claimed {
                let row = params![one.delivery.id, one.lease_id, due_at, one.lease_expired];
                change(connection, RELEASE, row)?;
            }
            Ok(())
        })
        .await
    }

    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        self.read(move |connection| {
            let max_depth = i64::try_from(QueueStats::MAX_DEPTH).unwrap_or(i64::MAX);
            let stats = first(connection, QUEUE_STATS, params![now, max_depth], |row| {
                Ok(QueueStats {
                    depth: count(row, "depth")?,
                    oldest_due_at: row.get("since")?,
                })
            });
            Ok(stats?.unwrap_or_default())
        })
        .await
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> BackendResult<Usage> {
        self.read(move |connection| lists::usage(connection, since, now))
            .await
    }

    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>> {
        let (event, endpoint) = (event.clone(), endpoint.clone());
        self.write(move |connection| {
            if first(connection, IS_ENABLED, [&endpoint], |_| Ok(()))?.is_none() {
                return Ok(None);
            }
            if insert(connection, &event)? {
                mark_fanned_out(connection, &event.id, now)?;
            }
            queue(connection, &event.id, &endpoint, now)?;
            Ok(Some(DeliveryId::derive(&event.id, &endpoint)))
        })
        .await
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool> {
        let id = id.clone();
        self.write(move |connection| {
            let found = first(connection, FIND, [&id], read_delivery)?;
            let Some(progress) = found.and_then(|delivery| delivery.progress.requeued(now)) else {
                return Ok(false);
            };
            let DeliveryProgress {
                state,
                attempts,
                due_at,
            } = progress;
            changes(connection, RETRY, params![id, state, attempts, due_at, now])
        })
        .await
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
    ) -> BackendResult<u64> {
        let endpoint = endpoint.clone();
        let DeliveryProgress {
            state,
            attempts,
            due_at,
        } = DeliveryProgress::queued(now);
        self.write(move |connection| {
            let row = params![
                endpoint,
                state,
                attempts,
                due_at,
                DeliveryState::Dead,
                limit
            ];
            Ok(change(connection, RETRY_DEAD, row)? as u64)
        })
        .await
    }

    async fn remove(&self, id: &DeliveryId) -> BackendResult<bool> {
        let id = id.clone();
        self.write(move |connection| changes(connection, REMOVE, [id]))
            .await
    }

    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        let id = id.clone();
        self.read(move |connection| {
            let attempts = all(connection, ATTEMPTS, [&id], read_attempt)?;
            let delivery = first(connection, FIND, [&id], read_delivery)?;
            Ok(delivery.map(|delivery| (delivery, attempts)))
        })
        .await
    }

    async fn list(&self, filter: &DeliveryFilter) -> BackendResult<Vec<Delivery>> {
        let filter = filter.clone();
        self.read(move |connection| {
            let after = filter.after.as_ref();
            let parameters = params![
                after.map(|(created_at, _)| created_at),
                after.map(|(_, id)| id),
                filter.limit,
                filter.endpoint,
                filter.topic,
            ];
            let sql = lists::list_statement(&filter);
            readable(connection, "deliveries", &sql, parameters, read_delivery)
        })
        .await
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> BackendResult<u64> {
        self.write(move |connection| {
            let left_behind = change(connection, LEFT_BEHIND, [limit])?;
            let rest = i64::from(limit) - left_behind as i64;
            let ended = change(connection, ENDED, params![before, rest])?;
            Ok((left_behind + ended) as u64)
        })
        .await
    }
}

/// Queues the event for the endpoint. Returns `false` when that does not exist or is disabled, or the event was queued for
/// it before.
pub(super) fn queue(
    connection: &Connection,
    event: &EventId,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<bool> {
    let id = DeliveryId::derive(event, endpoint);
    let DeliveryProgress {
        state,
        attempts,
        due_at,
    } = DeliveryProgress::queued(now);
    let row = params![id, event, endpoint, now, state, attempts, due_at];
    changes(connection, QUEUE, row)
}

/// Returns whether the lease was in force.
fn settle(connection: &Connection, settlement: &Settlement, now: Timestamp) -> Result<bool> {
    let Settlement {
        delivery,
        lease_id: lease,
        progress,
        attempt: attempted,
    } = settlement;
    let row = params![
        delivery,
        lease,
        progress.state,
        progress.attempts,
        progress.due_at,
        ended_at(progress, now),
    ];
    let settled = changes(connection, SETTLE, row)?;
    if let Some(attempted) = attempted.as_ref().filter(|_| settled) {
        add_attempt(connection, delivery, attempted)?;
    }
    Ok(settled)
}

/// Adds an attempt, and deletes those that exceed [`ATTEMPTS_KEPT`].
fn add_attempt(connection: &Connection, id: &DeliveryId, attempted: &AttemptRecord) -> Result<()> {
    let row = params![
        id,
        attempted.attempt,
        attempted.at,
        attempted.status,
        attempted.error,
        i64::try_from(attempted.duration_ms).unwrap_or(i64::MAX),
        attempted.response_excerpt,
    ];
    let number: Option<i64> = first(connection, ADD_ATTEMPT, row, |row| row.get("number"))?;
    let too_old = number.map(|number| number - i64::from(MAX_STORED_ATTEMPTS));
    if let Some(too_old) = too_old.filter(|number| *number > 0) {
        change(connection, FORGET_ATTEMPTS, params![id, too_old])?;
    }
    Ok(())
}

pub(super) fn count(row: &Row<'_>, column: &str) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

pub(super) fn read_delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get("id")?,
        event: row.get("event")?,
        topic: row.get("topic")?,
        endpoint: row.get("endpoint")?,
        created_at: row.get("created_at")?,
        progress: DeliveryProgress {
            state: row.get("state")?,
            attempts: row.get("attempts")?,
            due_at: row.get("due_at")?,
        },
    })
}

fn read_attempt(row: &Row<'_>) -> Result<AttemptRecord> {
    Ok(AttemptRecord {
        attempt: row.get("attempt")?,
        at: row.get("at")?,
        status: row.get("status")?,
        error: row.get("error")?,
        duration_ms: count(row, "duration_ms")?,
        response_excerpt: row.get("answer")?,
    })
}
