//! How a lease ends, and how a delivery is queued again.

use std::time::Duration;

use serde::Serialize;

use super::is_there;
use crate::error::{Fault, Stored};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::postgres::lease_clock::clock;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{joined, json};
use crate::store::postgres::{LeaseClock, Statement};
use crate::store::{ATTEMPTS_KEPT, Claimed, Settlement, ended_at};
use crate::webhook::State;

statements! {
    /// Records that sending begins: a row for [`settled`] of each delivery whose lease holds.
    begin_sending(claimed: &[Claimed], now: Timestamp, clock: LeaseClock) binds [
        joined(claimed.iter().map(|one| &one.delivery.id)),
        joined(claimed.iter().map(|one| one.lease)),
        clock.parameter(now),
    ] to concat!("WITH ", clock!("$3"), ", held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery
    JOIN unnest(string_to_array($1, ','), string_to_array($2, ',')::BIGINT[]) AS given (id, lease)
        ON given.id = delivery.id AND given.lease = delivery.lease
    WHERE delivery.leased AND delivery.due_at > (SELECT now FROM clock) AND ", is_there!(), "
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries SET sending = TRUE WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING id");

    /// Notes how attempts ended, and logs them: a row for [`settled`] of each whose lease was in force.
    settle(settlements: &[Settlement], now: Timestamp, clock: LeaseClock) binds [
        json(settlements.iter().map(|one| Row::of(one, now))),
        ATTEMPTS_KEPT,
        clock.parameter(now),
    ] to concat!("WITH ", clock!("$3"), ", given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::TEXT::JSON) AS given (
        id TEXT, lease BIGINT, state TEXT, attempts INTEGER, due_in BIGINT, has_ended BOOLEAN,
        attempt INTEGER, at BIGINT, status INTEGER, error TEXT, duration_ms BIGINT, answer TEXT
    )
), held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery JOIN given USING (id, lease)
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM given)) AND ", is_there!(), "
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
    WHERE old.delivery = ANY (ARRAY(SELECT id FROM latest WHERE number >= $2::TEXT::BIGINT))
        AND old.delivery = latest.id AND old.number <= latest.number + 1 - $2::TEXT::BIGINT
        AND given.attempt IS NOT NULL
)
SELECT id FROM settled");

    /// Returns a claimed delivery to the queue without an attempt, to be due after `wait`. Changes nothing if the lease is
    /// another worker's.
    release(claimed: &[Claimed], wait: Duration, now: Timestamp, clock: LeaseClock) binds [
        joined(claimed.iter().map(|one| &one.delivery.id)),
        joined(claimed.iter().map(|one| one.lease)),
        joined(claimed.iter().map(|one| one.lease_expired)),
        clock.parameter(now),
        wait.as_millis(),
    ] to concat!("WITH ", clock!("$4"), ", given AS MATERIALIZED (
    SELECT delivery.id, given.expired FROM forum_api_deliveries delivery
    JOIN unnest(string_to_array($1, ','), string_to_array($2, ',')::BIGINT[], string_to_array($3, ',')::BOOLEAN[])
        AS given (id, lease, expired) ON given.id = delivery.id AND given.lease = delivery.lease
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries delivery
SET due_at = clock.now + $5::TEXT::BIGINT, lease = delivery.lease + 1, leased = FALSE, sending = given.expired
FROM given CROSS JOIN clock WHERE delivery.id = given.id");

    /// Queues a finished delivery again, or makes a retrying one due unless its lease is in force. It changes at most
    /// one row.
    retry(id: &DeliveryId, now: Timestamp, clock: LeaseClock) binds [
        id,
        clock.parameter(now),
        joined(finished()),
    ] to concat!("WITH ", clock!("$2"), "
UPDATE forum_api_deliveries delivery
SET state = CASE delivery.state WHEN 'retrying' THEN 'retrying' ELSE 'queued' END,
    attempts = CASE delivery.state WHEN 'retrying' THEN delivery.attempts ELSE 0 END,
    due_at = clock.now, ended_at = NULL
FROM clock
WHERE id = $1 AND (
    delivery.state = ANY (string_to_array($3, ','))
    OR delivery.state = 'retrying' AND NOT (delivery.leased AND delivery.due_at > clock.now)
) AND ", is_there!());

    /// Queues up to `limit` dead deliveries of an endpoint again. It changes as many rows. Rows that another node
    /// has locked are left out.
    retry_dead(endpoint: &EndpointId, now: Timestamp, clock: LeaseClock, limit: u32) binds [
        endpoint,
        clock.parameter(now),
        limit,
    ] to concat!("WITH ", clock!("$2"), ", dead AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE endpoint = $1 AND state = 'dead' AND ", is_there!(), "
    ORDER BY created_at, id LIMIT $3::TEXT::BIGINT FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = (SELECT now FROM clock), ended_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM dead))");
}

/// The delivery that a row of [`settle`] or [`begin_sending`] names.
///
/// # Errors
/// When it is no such row.
pub fn settled(columns: &[&str]) -> Stored<DeliveryId> {
    let id = columns.first().and_then(|id| DeliveryId::new(id));
    id.ok_or_else(|| Fault::new("a row of a settlement names no delivery"))
}

/// A settlement, as [`settle`] takes it.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a DeliveryId,
    lease: i64,
    state: &'static str,
    attempts: u32,
    due_in: Option<i64>,
    has_ended: bool,
    attempt: Option<u32>,
    at: Option<i64>,
    status: Option<u16>,
    error: Option<String>,
    duration_ms: Option<i64>,
    answer: Option<String>,
}

impl<'a> Row<'a> {
    fn of(settlement: &'a Settlement, now: Timestamp) -> Self {
        let progress = &settlement.progress;
        let attempted = settlement.attempted.as_ref();
        Self {
            id: &settlement.delivery,
            lease: settlement.lease,
            state: progress.state.as_str(),
            attempts: progress.attempts,
            due_in: progress
                .due_at
                .map(|due| due.as_millis().saturating_sub(now.as_millis())),
            has_ended: ended_at(progress, now).is_some(),
            attempt: attempted.map(|one| one.attempt),
            at: attempted.map(|one| one.at.as_millis()),
            status: attempted.and_then(|one| one.status),
            error: attempted.and_then(|one| one.error.as_deref()).map(kept),
            duration_ms: attempted.map(|one| i64::try_from(one.duration_ms).unwrap_or(i64::MAX)),
            answer: attempted.and_then(|one| one.answer.as_deref()).map(kept),
        }
    }
}

/// Postgres keeps no U+0000 in a text.
fn kept(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The states from which an operator retry queues a delivery again.
fn finished() -> impl Iterator<Item = &'static str> {
    let all = State::ALL.into_iter();
    all.filter(|state| !state.is_pending()).map(State::as_str)
}
