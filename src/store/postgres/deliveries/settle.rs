//! How a lease ends, and how a delivery is queued again.

use super::is_there;
use crate::model::{DeliveryId, Timestamp};
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{joined, json, millis_if_any};
use crate::store::{ATTEMPTS_KEPT, Claimed, ended_at};
use crate::webhook::{Attempted, Progress, State};

statements! {
    /// Notes how an attempt ended, and logs it: one row, the delivery's id, or none when the lease is not in force any
    /// more.
    settle(claimed: &Claimed, progress: &Progress, attempted: Option<&Attempted>, now: Timestamp) binds (
        settled(claimed, progress, attempted, now)
    ) to concat!("\
WITH settled AS (
    UPDATE forum_api_deliveries delivery
    SET state = $3, attempts = $4::TEXT::INTEGER, due_at = NULLIF($5, '')::BIGINT,
        ended_at = NULLIF($6, '')::BIGINT, lease = lease + 1, leased = FALSE
    WHERE id = $1 AND lease = $2::TEXT::BIGINT AND ", is_there!(), "
    RETURNING id
), latest AS (
    SELECT coalesce(max(number), 0) AS number FROM forum_api_attempts WHERE delivery = $1
), logged AS (
    INSERT INTO forum_api_attempts (delivery, number, attempt, at, status, error, duration_ms, answer)
    SELECT settled.id, latest.number + 1, NULLIF($8, '')::INTEGER, NULLIF($9, '')::BIGINT,
        NULLIF($10, '')::INTEGER, NULLIF($11, '')::JSON #>> '{}', NULLIF($12, '')::BIGINT,
        NULLIF($13, '')::JSON #>> '{}'
    FROM settled, latest WHERE $8 <> ''
), forgotten AS (
    DELETE FROM forum_api_attempts USING settled, latest
    WHERE delivery = $1 AND forum_api_attempts.number <= latest.number + 1 - $7::TEXT::BIGINT AND $8 <> ''
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

fn settled(
    claimed: &Claimed,
    progress: &Progress,
    attempted: Option<&Attempted>,
    now: Timestamp,
) -> Vec<String> {
    let mut texts = vec![
        claimed.delivery.id.to_string(),
        claimed.lease.to_string(),
        progress.state.as_str().into(),
        progress.attempts.to_string(),
        millis_if_any(progress.due_at),
        millis_if_any(ended_at(progress, now)),
        ATTEMPTS_KEPT.to_string(),
    ];
    texts.extend(attempted.map_or_else(Default::default, logged));
    texts
}

/// What is kept of an attempt.
fn logged(attempted: &Attempted) -> [String; 6] {
    let status = attempted.status.map(|status| status.to_string());
    [
        attempted.attempt.to_string(),
        attempted.at.as_millis().to_string(),
        status.unwrap_or_default(),
        json(attempted.error.as_deref()),
        attempted.duration_ms.to_string(),
        json(attempted.answer.as_deref()),
    ]
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
