//! Deliveries in SQLite.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::{SqliteWebhooks, claim, list, queue, settle, sweep, usage};
use crate::error::Stored;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::sqlite::run::{all, changes, first};
use crate::store::{
    Backlog, Claim, Claimed, Claims, Deliveries, Filter, Settlement, Usage, report_unreadable,
};
use crate::webhook::{Attempted, Delivery, Event, Progress};

pub(super) const FIND: &str = "
    SELECT * FROM forum_api_deliveries
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

pub(super) const REMOVE: &str = "
    DELETE FROM forum_api_deliveries
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

pub(super) const BACKLOG: &str = "
    SELECT count(*) AS depth,
        (SELECT min((SELECT min(due_at) FROM forum_api_deliveries delivery
            WHERE delivery.endpoint = endpoint.id AND delivery.due_at <= ?1))
        FROM forum_api_endpoints endpoint WHERE endpoint.enabled) AS since
    FROM (
        SELECT 1 FROM forum_api_endpoints endpoint
        CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = endpoint.id
        WHERE endpoint.enabled AND delivery.due_at <= ?1 LIMIT ?2
    )";

pub(super) const ATTEMPTS: &str =
    "SELECT * FROM forum_api_attempts WHERE delivery = ?1 ORDER BY number";

#[async_trait]
impl Deliveries for SqliteWebhooks {
    /// What can be taken is read beside whoever writes, and then taken if it still is as it was. Where others were
    /// faster at all of it, there may be something else.
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        loop {
            let look = claim.clone();
            let look = self.read(move |connection| claim::look(connection, &look, now));
            let found = look.await?;
            if found.is_empty() {
                return Ok(Claims {
                    taken: Vec::new(),
                    next: found.next,
                });
            }
            let until = now.plus(claim.lease);
            let take = self.write(move |savepoint| claim::take(savepoint, found, now, until));
            let (claims, unreadable) = take.await?;
            for (id, reason) in unreadable {
                report_unreadable("deliveries", &String::from_utf8_lossy(&id), &reason);
            }
            if !claims.taken.is_empty() {
                return Ok(claims);
            }
        }
    }

    async fn begin_sending(
        &self,
        claimed: &[Claimed],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let leases = claimed
            .iter()
            .map(|one| (one.delivery.id.clone(), one.lease));
        let leases: Vec<_> = leases.collect();
        self.write(move |savepoint| settle::begin_sending(savepoint, &leases, now))
            .await
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let settlements = settlements.to_vec();
        self.write(move |savepoint| settle::settle(savepoint, &settlements, now))
            .await
    }

    async fn release(&self, claimed: &[Claimed], wait: Duration, now: Timestamp) -> Stored<()> {
        let (claimed, due_at) = (claimed.to_vec(), now.plus(wait));
        self.write(move |savepoint| {
            for one in &claimed {
                settle::release(savepoint, one, due_at)?;
            }
            Ok(())
        })
        .await
    }

    async fn backlog(&self, now: Timestamp) -> Stored<Backlog> {
        self.read(move |connection| {
            let max_depth = i64::try_from(Backlog::MAX_DEPTH).unwrap_or(i64::MAX);
            let found = first(connection, BACKLOG, params![now, max_depth], |row| {
                let (depth, since) = (row.get::<_, i64>("depth")?, row.get("since")?);
                Ok(Backlog {
                    depth: depth.unsigned_abs(),
                    since,
                })
            });
            Ok(found?.unwrap_or_default())
        })
        .await
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> Stored<Usage> {
        self.read(move |connection| usage::usage(connection, since, now))
            .await
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        let (event, endpoint) = (event.clone(), endpoint.clone());
        self.write(move |savepoint| queue::send(savepoint, &event, &endpoint, now))
            .await
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool> {
        let id = id.clone();
        self.write(move |savepoint| settle::retry(savepoint, &id, now))
            .await
    }

    async fn retry_dead(&self, endpoint: &EndpointId, now: Timestamp, limit: u32) -> Stored<u64> {
        let endpoint = endpoint.clone();
        self.write(move |savepoint| settle::retry_dead(savepoint, &endpoint, now, limit))
            .await
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        let id = id.clone();
        self.write(move |savepoint| changes(savepoint, REMOVE, [id]))
            .await
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        let id = id.clone();
        self.read(move |connection| {
            let attempts = all(connection, ATTEMPTS, [&id], attempted)?;
            let delivery = find(connection, &id)?;
            Ok(delivery.map(|delivery| (delivery, attempts)))
        })
        .await
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        let filter = filter.clone();
        self.read(move |connection| list::list(connection, &filter))
            .await
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64> {
        self.write(move |savepoint| sweep::sweep(savepoint, before, limit))
            .await
    }
}

pub(super) fn find(connection: &Connection, id: &DeliveryId) -> Result<Option<Delivery>> {
    first(connection, FIND, [id], delivery)
}

pub(super) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get("id")?,
        event: row.get("event")?,
        topic: row.get("topic")?,
        endpoint: row.get("endpoint")?,
        created_at: row.get("created_at")?,
        progress: Progress {
            state: row.get("state")?,
            attempts: row.get("attempts")?,
            due_at: row.get("due_at")?,
        },
    })
}

fn attempted(row: &Row<'_>) -> Result<Attempted> {
    Ok(Attempted {
        attempt: row.get("attempt")?,
        at: row.get("at")?,
        status: row.get("status")?,
        error: row.get("error")?,
        duration_ms: row.get::<_, i64>("duration_ms")?.unsigned_abs(),
        answer: row.get("answer")?,
    })
}
