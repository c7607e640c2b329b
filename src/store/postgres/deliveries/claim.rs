//! What a worker takes.

use crate::error::{Fault, Stored};
use crate::model::Timestamp;
use crate::store::postgres::lease_clock::clock;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{if_any, joined, truth};
use crate::store::postgres::{LeaseClock, Statement, deliveries, endpoints, outbox};
use crate::store::{Claim, Claimed, Claims};

statements! {
    /// Takes what is due, and tells when the next is: rows for [`claims`].
    ///
    /// Workers that claim at once pass over what another one holds, and wait for nobody. First each endpoint's share in
    /// the oldest that are due is looked up, and locked; what others were faster at is made up for with whatever else is
    /// due. The planner takes a limit that it does not know for a tenth of all, so that each is within one that it knows.
    ///
    /// Its commit does not wait for the disk (`synchronous_commit`): nothing is sent before
    /// [`begin_sending`](super::begin_sending) is durable. It is run outside transactions. The number of a lease is at least
    /// the time in microseconds, so that a number whose commit was lost in a crash is not given again.
    claim(claim: &Claim, now: Timestamp, clock: LeaseClock) binds [
        claim.room,
        claim.per_endpoint,
        joined(claim.running.keys()),
        joined(claim.running.values()),
        clock.parameter(now),
        claim.lease.as_millis(),
    ] to concat!("WITH ", clock!("$5"), ", endpoint AS MATERIALIZED (
    SELECT endpoint.*, set_config('synchronous_commit', 'off', TRUE), greatest($2::TEXT::BIGINT - coalesce(running.attempts, 0), 0) AS room
    FROM forum_api_endpoints endpoint
    LEFT JOIN unnest(string_to_array($3, ','), string_to_array($4, ',')::BIGINT[])
        AS running (endpoint, attempts) ON running.endpoint = endpoint.id
    WHERE endpoint.enabled
), pending AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at IS NOT NULL
            ORDER BY due_at, id LIMIT $2::TEXT::BIGINT
        ) few LIMIT endpoint.room
    ) first
), share AS MATERIALIZED (
    SELECT endpoint, count(*) AS size FROM (
        SELECT endpoint FROM pending WHERE due_at <= (SELECT now FROM clock)
        ORDER BY due_at, id LIMIT $1::TEXT::BIGINT
    ) oldest GROUP BY endpoint
), locked AS MATERIALIZED (
    SELECT first.* FROM share CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = share.endpoint AND due_at <= (SELECT now FROM clock)
            ORDER BY due_at, id LIMIT $2::TEXT::BIGINT FOR UPDATE SKIP LOCKED
        ) few LIMIT share.size
    ) first
), more AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) AND id NOT IN (SELECT id FROM locked)
            ORDER BY due_at, id LIMIT $2::TEXT::BIGINT FOR UPDATE SKIP LOCKED
        ) few LIMIT endpoint.room - (SELECT count(*) FROM locked WHERE locked.endpoint = endpoint.id)
    ) first
    LIMIT (SELECT sum(size) FROM share) - (SELECT count(*) FROM locked)
), before AS MATERIALIZED (
    SELECT * FROM locked UNION ALL SELECT * FROM more
), leased AS (
    UPDATE forum_api_deliveries SET due_at = (SELECT now FROM clock) + $6::TEXT::BIGINT, 
        lease = greatest(lease + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT), leased = TRUE
    WHERE id = ANY (ARRAY(SELECT id FROM before))
    RETURNING id, event, topic, endpoint, created_at, state, attempts, lease, sending
), delivery AS (
    SELECT leased.*, before.due_at FROM leased JOIN before USING (id)
)
SELECT (next.due_at - (SELECT now FROM clock))::TEXT, delivery.lease::TEXT, delivery.sending::TEXT, ", deliveries::columns!(), ",
    ", outbox::columns!(), ",
    ", endpoints::columns!(), "
FROM (SELECT min(due_at) AS due_at FROM pending WHERE id NOT IN (SELECT id FROM before)) next
LEFT JOIN (
    delivery JOIN endpoint ON endpoint.id = delivery.endpoint
    CROSS JOIN LATERAL (SELECT * FROM forum_api_events WHERE id = delivery.event LIMIT 1) event
) ON TRUE
ORDER BY delivery.due_at, delivery.id");
}

/// Decodes the rows of [`claim`], in which every column is a text: the deliveries, and an error with the id for each row
/// that cannot be decoded. `now` is the time at which the statement was sent.
///
/// # Errors
/// When they are other rows.
pub fn claims(
    rows: &[Vec<&str>],
    claim: &Claim,
    now: Timestamp,
) -> Stored<(Claims, Vec<UnreadableDelivery>)> {
    let next = rows.first().and_then(|row| if_any(row.first()?, wait));
    let next = next.ok_or_else(|| Fault::new("the rows are not those of a claim"))?;
    let mut claims = Claims {
        taken: Vec::new(),
        next: next.map(|wait| later(now, wait)),
    };
    let mut unreadable = Vec::new();
    for row in rows {
        match claimed(row, now.plus(claim.lease)) {
            Ok(claimed) => claims.taken.extend(claimed),
            Err(reason) => unreadable.push(UnreadableDelivery {
                id: row.get(ID).copied().unwrap_or_default().into(),
                reason,
            }),
        }
    }
    if !unreadable.is_empty() {
        // They took the places of others, which may be due.
        claims.next = Some(now);
    }
    Ok((claims, unreadable))
}

/// A delivery that was claimed and cannot be decoded. Its lease expires, and no attempt is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableDelivery {
    /// The id as it is stored.
    pub id: String,
    /// The reason.
    pub reason: &'static str,
}

/// Column of the delivery's id.
const ID: usize = 3;

/// Milliseconds from now on, which may be negative.
fn wait(column: &str) -> Option<i64> {
    column.parse().ok()
}

fn later(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(millis))
}

/// Where nothing was taken the row has no lease.
fn claimed(row: &[&str], lease_until: Timestamp) -> Result<Option<Claimed>, &'static str> {
    let [_next, lease, sending, rest @ ..] = row else {
        return Err("the row has other columns");
    };
    if lease.is_empty() {
        return Ok(None);
    }
    let columns = rest
        .split_at_checked(deliveries::COLUMNS)
        .and_then(|(delivery, rest)| Some((delivery, rest.split_at_checked(outbox::COLUMNS)?)));
    let (delivery, (event, endpoint)) = columns.ok_or("the row has other columns")?;
    Ok(Some(Claimed {
        delivery: deliveries::read(delivery).ok_or("the delivery is malformed")?,
        endpoint: endpoints::read(endpoint).ok_or("the endpoint is malformed")?,
        event: outbox::read(event)?,
        lease_expired: truth(sending).ok_or("the delivery is malformed")?,
        lease: lease.parse().map_err(|_| "the lease is malformed")?,
        lease_until,
    }))
}
