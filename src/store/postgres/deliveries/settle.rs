//! How a lease ends, and how a delivery is queued again.

use serde::Serialize;

use super::is_there;
use crate::host::{Fault, Stored};
use crate::model::{DeliveryId, Timestamp};
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{joined, json};
use crate::store::{ATTEMPTS_KEPT, Claimed, Settlement, ended_at};
use crate::webhook::{Progress, State};

statements! {
    /// Notes how attempts ended, and logs them: a row for [`settled`] of each whose lease was in force.
    settle(settlements: &[Settlement], now: Timestamp) binds [
        json(settlements.iter().map(|one| Row::of(one, now))),
        ATTEMPTS_KEPT,
    ] to concat!("\
WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::TEXT::JSON) AS given (
        id TEXT, lease BIGINT, state TEXT, attempts INTEGER, due_at BIGINT, ended_at BIGINT,
        attempt INTEGER, at BIGINT, status INTEGER, error TEXT, duration_ms BIGINT, answer TEXT
    )
), held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery JOIN given USING (id, lease)
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM given)) AND ", is_there!(), "
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
), settled AS (
    UPDATE forum_api_deliveries delivery
    SET state = given.state, attempts = given.attempts, due_at = given.due_at, ended_at = given.ended_at,
        lease = delivery.lease + 1, leased = FALSE
    FROM given
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

    /// Gives back what was claimed and not attempted, to be due at `due_at`. What is another's by now is left alone.
    release(claimed: &[Claimed], due_at: Timestamp) binds [
        joined(claimed.iter().map(|one| &one.delivery.id)),
        joined(claimed.iter().map(|one| one.lease)),
        joined(claimed.iter().map(|one| one.lease_expired)),
        due_at.as_millis(),
    ] to "\
WITH given AS MATERIALIZED (
    SELECT delivery.id, given.expired FROM forum_api_deliveries delivery
    JOIN unnest(string_to_array($1, ','), string_to_array($2, ',')::BIGINT[], string_to_array($3, ',')::BOOLEAN[])
        AS given (id, lease, expired) ON given.id = delivery.id AND given.lease = delivery.lease
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries delivery
SET due_at = $4::TEXT::BIGINT, lease = delivery.lease + 1, leased = given.expired
FROM given WHERE delivery.id = given.id";

    /// Queues a delivery again that is dead or gone. It changes one row, or none.
    retry(id: &DeliveryId, now: Timestamp) binds (retried(id, now)) to concat!("\
UPDATE forum_api_deliveries delivery
SET state = $2, attempts = $3::TEXT::INTEGER, due_at = $4::TEXT::BIGINT, ended_at = NULL
WHERE id = $1 AND state = ANY (string_to_array($5, ',')) AND ", is_there!());
}

/// The delivery that a row of [`settle`] names.
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
    due_at: Option<i64>,
    ended_at: Option<i64>,
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
            due_at: progress.due_at.map(Timestamp::as_millis),
            ended_at: ended_at(progress, now).map(Timestamp::as_millis),
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

fn retried(id: &DeliveryId, now: Timestamp) -> Vec<String> {
    let progress = Progress::queued(now);
    let over = State::ALL.into_iter().filter(|state| {
        let state = *state;
        Progress { state, ..progress }.retried(now).is_some()
    });
    vec![
        id.to_string(),
        progress.state.as_str().into(),
        progress.attempts.to_string(),
        now.as_millis().to_string(),
        joined(over.map(State::as_str)),
    ]
}
