//! Delivery store: settle, release, retry, lists, sweep.
//!
//! Any number of nodes may run any of these statements at once, at the level `READ COMMITTED`, without a deadlock: a
//! statement that needs an event and its deliveries locks the event first, and one that locks several rows of a table
//! does so in the order of their ids, or skips locked rows.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::execute::{Columns, Parameters, Result};
use super::lease_clock::clock;
use super::{Postgres, PostgresError};
use crate::error::Stored;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::{
    ATTEMPTS_KEPT, Backlog, Claim, Claimed, Claims, Deliveries, DeliveryCount, Filter, Settlement,
    Usage, ended_at,
};
use crate::webhook::{Attempted, Delivery, Event, Progress, State};

/// The columns of a delivery, as [`read_delivery`] reads them.
macro_rules! delivery_columns {
    () => {
        "delivery.id, delivery.event, delivery.topic, delivery.endpoint, delivery.created_at,
    delivery.state, delivery.attempts::BIGINT, delivery.due_at"
    };
}

pub(super) use delivery_columns;

/// Condition that the endpoint was not removed.
macro_rules! endpoint_exists {
    () => {
        "EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)"
    };
}

const BEGIN_SENDING: &str = concat!(
    "WITH ",
    clock!("$3"),
    ", held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery
    JOIN unnest($1::TEXT[], $2::BIGINT[]) AS given (id, lease)
        ON given.id = delivery.id AND given.lease = delivery.lease
    WHERE delivery.leased AND delivery.due_at > (SELECT now FROM clock) AND ",
    endpoint_exists!(),
    "
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries SET sending = TRUE WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING id"
);

/// Ends the leases that are in force, and records the attempts.
const SETTLE: &str = concat!(
    "WITH ",
    clock!("$2"),
    ", given AS MATERIALIZED (
    SELECT * FROM unnest(
        $3::TEXT[], $4::BIGINT[], $5::TEXT[], $6::INTEGER[], $7::BIGINT[], $8::BOOLEAN[],
        $9::INTEGER[], $10::BIGINT[], $11::INTEGER[], $12::TEXT[], $13::BIGINT[], $14::TEXT[]
    ) AS given (
        id, lease, state, attempts, due_in, has_ended, attempt, at, status, error, duration_ms, answer
    )
), held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery JOIN given USING (id, lease)
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM given)) AND ",
    endpoint_exists!(),
    "
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
), settled AS (
    UPDATE forum_api_deliveries delivery
    SET state = given.state, attempts = given.attempts, due_at = clock.now + given.due_in,
        ended_at = CASE WHEN given.has_ended THEN clock.now END,
        lease = delivery.lease + 1, leased = FALSE, sending = FALSE
    FROM given CROSS JOIN clock
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM held)) AND given.id = delivery.id
    RETURNING delivery.id
), latest AS MATERIALIZED (
    SELECT id, coalesce((SELECT max(number) FROM forum_api_attempts WHERE delivery = settled.id), 0) AS number
    FROM settled
), logged AS (
    INSERT INTO forum_api_attempts (delivery, number, attempt, at, status, error, duration_ms, answer)
    SELECT id, number + 1, attempt, at, status, error, duration_ms, answer
    FROM latest JOIN given USING (id) WHERE attempt IS NOT NULL
), forgotten AS (
    DELETE FROM forum_api_attempts old USING latest JOIN given USING (id)
    WHERE old.delivery = ANY (ARRAY(SELECT id FROM latest WHERE number >= $1))
        AND old.delivery = latest.id AND old.number <= latest.number + 1 - $1
        AND given.attempt IS NOT NULL
)
SELECT id FROM settled"
);

const RELEASE: &str = concat!(
    "WITH ",
    clock!("$4"),
    ", given AS MATERIALIZED (
    SELECT delivery.id, given.expired FROM forum_api_deliveries delivery
    JOIN unnest($1::TEXT[], $2::BIGINT[], $3::BOOLEAN[]) AS given (id, lease, expired)
        ON given.id = delivery.id AND given.lease = delivery.lease
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries delivery
SET due_at = clock.now + $5, lease = delivery.lease + 1, leased = FALSE, sending = given.expired
FROM given CROSS JOIN clock WHERE delivery.id = given.id"
);

/// Counts due deliveries up to `$2`, and finds the earliest due time.
const QUEUE_STATS: &str = concat!(
    "WITH ",
    clock!("$1"),
    ", due AS MATERIALIZED (
    SELECT first.due_at, many.depth FROM forum_api_endpoints endpoint CROSS JOIN LATERAL (
        SELECT due_at FROM forum_api_deliveries
        WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) ORDER BY due_at LIMIT 1
    ) first CROSS JOIN LATERAL (
        SELECT count(*) AS depth FROM (
            SELECT FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) LIMIT $2
        ) few
    ) many
    WHERE endpoint.enabled
)
SELECT least(coalesce(sum(depth), 0), $2)::BIGINT, min(due_at) FROM due"
);

/// Counts deliveries by hour, endpoint and state, and, in rows without an endpoint, attempts by duration.
const USAGE: &str = "
SELECT hours_ago, endpoint, state, count FROM (
    SELECT greatest($2 - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM forum_api_deliveries WHERE state = ANY ($3) AND created_at > $1
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
UNION ALL
SELECT width_bucket(duration_ms, $4::BIGINT[]), NULL, NULL, count(*)
FROM forum_api_attempts WHERE at > $1 GROUP BY 1";

/// Returns the endpoint's id if it exists and is enabled.
const ENQUEUE: &str = concat!(
    "WITH ",
    clock!("$8"),
    ", endpoint AS MATERIALIZED (
    SELECT id FROM forum_api_endpoints WHERE id = $7 AND enabled FOR KEY SHARE
), put AS (
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, body, fanned_out_at)
    SELECT $1, $2, $3, $4, $5, now FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT $6, $1, $2, id, now, 'queued', 0, now FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
)
SELECT id FROM endpoint"
);

/// Queues a finished delivery again, or makes a retrying one due unless its lease is in force.
const RETRY: &str = concat!(
    "WITH ",
    clock!("$2"),
    "
UPDATE forum_api_deliveries delivery
SET state = CASE delivery.state WHEN 'retrying' THEN 'retrying' ELSE 'queued' END,
    attempts = CASE delivery.state WHEN 'retrying' THEN delivery.attempts ELSE 0 END,
    due_at = clock.now, ended_at = NULL
FROM clock
WHERE id = $1 AND (
    delivery.state = ANY ($3)
    OR delivery.state = 'retrying' AND NOT (delivery.leased AND delivery.due_at > clock.now)
) AND ",
    endpoint_exists!()
);

const RETRY_DEAD: &str = concat!(
    "WITH ",
    clock!("$2"),
    ", dead AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE endpoint = $1 AND state = 'dead' AND ",
    endpoint_exists!(),
    "
    ORDER BY created_at, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = (SELECT now FROM clock), ended_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM dead))"
);

const REMOVE: &str = concat!(
    "
WITH event AS MATERIALIZED (
    SELECT event.id FROM forum_api_deliveries delivery JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.id = $1 FOR UPDATE OF event
)
DELETE FROM forum_api_deliveries delivery USING event
WHERE delivery.id = $1 AND delivery.event = event.id AND ",
    endpoint_exists!()
);

/// Returns a row for each attempt, or one without an attempt.
const FIND: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    ",
    attempt::BIGINT, at, status::BIGINT, error, duration_ms, answer
FROM forum_api_deliveries delivery
LEFT JOIN forum_api_attempts attempted ON attempted.delivery = delivery.id
WHERE delivery.id = $1 AND ",
    endpoint_exists!(),
    "
ORDER BY attempted.number"
);

/// Finds deliveries of removed endpoints by a walk over the endpoints in the index. Locked rows are left to the next
/// sweep.
const SWEEP: &str = concat!(
    "
WITH RECURSIVE hop (endpoint) AS (
    SELECT min(endpoint) FROM forum_api_deliveries
    UNION ALL
    SELECT (SELECT min(endpoint) FROM forum_api_deliveries WHERE endpoint > hop.endpoint)
    FROM hop WHERE hop.endpoint IS NOT NULL
), over AS MATERIALIZED (
    SELECT left_behind.* FROM hop CROSS JOIN LATERAL (
        SELECT id, event FROM forum_api_deliveries WHERE endpoint = hop.endpoint LIMIT $2
    ) left_behind
    WHERE hop.endpoint NOT IN (SELECT id FROM forum_api_endpoints)
    UNION ALL
    SELECT ended.* FROM (
        SELECT id, event FROM forum_api_deliveries delivery
        WHERE ended_at < $1 AND ",
    endpoint_exists!(),
    " ORDER BY ended_at LIMIT $2
    ) ended
    LIMIT $2
), event AS MATERIALIZED (
    SELECT id FROM forum_api_events WHERE id = ANY (ARRAY(SELECT event FROM over)) FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE id = ANY (ARRAY(SELECT id FROM over)) AND event IN (SELECT id FROM event)
        AND (ended_at < $1 OR NOT ",
    endpoint_exists!(),
    ")
    FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_deliveries WHERE id = ANY (ARRAY(SELECT id FROM locked))"
);

#[async_trait]
impl Deliveries for Postgres {
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        self.claim_due(claim, now).await
    }

    async fn begin_sending(
        &self,
        claimed: &[Claimed],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let (ids, leases) = leases(claimed);
        let parameters: Parameters<'_> = &[&ids, &leases, &self.clock.time(now)];
        let begun = self
            .all(BEGIN_SENDING, parameters, |columns| columns.value())
            .await?;
        Ok(begun.into_iter().collect())
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        fn each<'a, T>(
            settlements: &'a [Settlement],
            value: impl Fn(&'a Settlement) -> T,
        ) -> Vec<T> {
            settlements.iter().map(value).collect()
        }
        fn attempted<'a, T>(
            settlements: &'a [Settlement],
            value: impl Fn(&'a Attempted) -> T,
        ) -> Vec<Option<T>> {
            each(settlements, |one| one.attempted.as_ref().map(&value))
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
                    &i64::from(ATTEMPTS_KEPT),
                    &self.clock.time(now),
                    &each(given, |one| &one.delivery),
                    &each(given, |one| one.lease),
                    &each(given, |one| one.progress.state),
                    &each(given, |one| integer(one.progress.attempts)),
                    &each(given, due_in),
                    &each(given, |one| ended_at(&one.progress, now).is_some()),
                    &attempted(given, |one| integer(one.attempt)),
                    &attempted(given, |one| one.at),
                    &each(given, |one| one.attempted.as_ref()?.status.map(i32::from)),
                    &each(given, |one| {
                        one.attempted.as_ref()?.error.as_deref().map(storable)
                    }),
                    &attempted(given, |one| {
                        i64::try_from(one.duration_ms).unwrap_or(i64::MAX)
                    }),
                    &each(given, |one| {
                        one.attempted.as_ref()?.answer.as_deref().map(storable)
                    }),
                ],
                |columns| columns.value(),
            )
            .await?;
        Ok(settled.into_iter().collect())
    }

    async fn release(&self, claimed: &[Claimed], wait: Duration, now: Timestamp) -> Stored<()> {
        let (ids, leases) = leases(claimed);
        let expired: Vec<_> = claimed.iter().map(|one| one.lease_expired).collect();
        let (now, wait) = (self.clock.time(now), millis(wait));
        self.execute(RELEASE, &[&ids, &leases, &expired, &now, &wait])
            .await?;
        Ok(())
    }

    async fn backlog(&self, now: Timestamp) -> Stored<Backlog> {
        let max_depth = i64::try_from(Backlog::MAX_DEPTH).unwrap_or(i64::MAX);
        let stats = self
            .first(
                QUEUE_STATS,
                &[&self.clock.time(now), &max_depth],
                |columns| {
                    Ok(Backlog {
                        depth: columns.number()?,
                        since: columns.value()?,
                    })
                },
            )
            .await?;
        Ok(stats.unwrap_or_default())
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> Stored<Usage> {
        let bounds =
            Usage::ATTEMPT_TIME_BOUNDS.map(|bound| i64::try_from(bound).unwrap_or(i64::MAX));
        let (states, bounds) = (State::ALL.as_slice(), bounds.as_slice());
        let rows = self.query(USAGE, &[&since, &now, &states, &bounds]).await?;
        let mut usage = Usage::default();
        for row in rows {
            let columns = &mut Columns::of(&row);
            let group: u64 = columns.number()?;
            let endpoint: Option<EndpointId> = columns.value()?;
            let state: Option<State> = columns.value()?;
            let count = columns.number()?;
            if let Some((endpoint, state)) = endpoint.zip(state) {
                usage.deliveries.push(DeliveryCount {
                    hours_ago: group,
                    endpoint,
                    state,
                    count,
                });
            } else if let Some(attempts) = usage.attempt_times.get_mut(group as usize) {
                *attempts = count;
            }
        }
        Ok(usage)
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        let id = DeliveryId::of(&event.id, endpoint);
        let sent = self
            .query(
                ENQUEUE,
                &[
                    &event.id,
                    &event.topic,
                    &event.occurred_at,
                    &event.forum,
                    &event.body,
                    &id,
                    endpoint,
                    &self.clock.time(now),
                ],
            )
            .await?;
        Ok((!sent.is_empty()).then_some(id))
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool> {
        let finished = State::ALL.into_iter().filter(|state| !state.is_pending());
        let finished: Vec<_> = finished.collect();
        let parameters: Parameters<'_> = &[id, &self.clock.time(now), &finished];
        Ok(self.execute(RETRY, parameters).await? > 0)
    }

    async fn retry_dead(&self, endpoint: &EndpointId, now: Timestamp, limit: u32) -> Stored<u64> {
        let parameters: Parameters<'_> = &[endpoint, &self.clock.time(now), &i64::from(limit)];
        Ok(self.execute(RETRY_DEAD, parameters).await?)
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        Ok(self.execute(REMOVE, &[id]).await? > 0)
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        let read =
            |columns: &mut Columns<'_>| Ok((read_delivery(columns)?, read_attempt(columns)?));
        let rows = self.all(FIND, &[id], read).await?;
        let (deliveries, attempts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let delivery = deliveries.into_iter().next();
        Ok(delivery.map(|delivery| (delivery, attempts.into_iter().flatten().collect())))
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        let states = filter
            .state
            .map_or(State::ALL.to_vec(), |state| vec![state]);
        let limit = i64::from(filter.limit);
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&states, &limit];
        let mut conditions = String::new();
        if let Some(endpoint) = &filter.endpoint {
            parameters.push(endpoint);
            conditions += &format!(" AND endpoint = ${}", parameters.len());
        }
        if let Some(topic) = &filter.topic {
            parameters.push(topic);
            conditions += &format!(" AND topic = ${}", parameters.len());
        }
        if let Some((created_at, id)) = &filter.after {
            parameters.extend([created_at as &(dyn ToSql + Sync), id]);
            let last = parameters.len();
            conditions += &format!(" AND (created_at, id) < (${}, ${last})", last - 1);
        }
        let sql = list_statement(&conditions);
        Ok(self
            .readable("deliveries", &sql, &parameters, read_delivery)
            .await?)
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64> {
        Ok(self.execute(SWEEP, &[&before, &i64::from(limit)]).await?)
    }
}

/// A list that merges a walk for each state in `$1` over an index that begins with the columns of the conditions. Every
/// index is ordered by time within each state.
fn list_statement(conditions: &str) -> String {
    format!(
        "SELECT {columns}
FROM unnest($1::TEXT[]) AS listed (state)
CROSS JOIN LATERAL (
    SELECT * FROM forum_api_deliveries delivery
    WHERE state = listed.state{conditions} AND {exists}
    ORDER BY created_at DESC, id DESC LIMIT $2
) delivery
ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT $2",
        columns = delivery_columns!(),
        exists = endpoint_exists!(),
    )
}

fn leases(claimed: &[Claimed]) -> (Vec<&DeliveryId>, Vec<i64>) {
    claimed
        .iter()
        .map(|one| (&one.delivery.id, one.lease))
        .unzip()
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Postgres stores no U+0000 in a text.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn read_delivery(columns: &mut Columns<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: columns.value()?,
        event: columns.value()?,
        topic: columns.value()?,
        endpoint: columns.value()?,
        created_at: columns.value()?,
        progress: Progress {
            state: columns.value()?,
            attempts: columns.number()?,
            due_at: columns.value()?,
        },
    })
}

/// Returns `None` for the row of a delivery without an attempt.
fn read_attempt(columns: &mut Columns<'_>) -> Result<Option<Attempted>> {
    let Some(attempt) = columns.value::<Option<i64>>()? else {
        return Ok(None);
    };
    let out_of_range = |_| PostgresError::malformed("a number is out of range");
    let attempt = u32::try_from(attempt).map_err(out_of_range)?;
    let at = columns.value()?;
    let status: Option<i64> = columns.value()?;
    Ok(Some(Attempted {
        attempt,
        at,
        status: status
            .map(u16::try_from)
            .transpose()
            .map_err(out_of_range)?,
        error: columns.value()?,
        duration_ms: columns.number()?,
        answer: columns.value()?,
    }))
}
