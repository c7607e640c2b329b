//! What a worker takes.

use crate::host::{Fault, Stored};
use crate::model::Timestamp;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{if_any, joined, time, truth};
use crate::store::postgres::{Statement, deliveries, endpoints, outbox};
use crate::store::{Claim, Claimed, Claims};

statements! {
    /// Takes what is due, and tells when the next is: rows for [`claims`].
    ///
    /// Workers that claim at once pass over what another one holds, and wait for nobody. First each endpoint's share in
    /// the oldest that are due is looked up, and locked; what others were faster at is made up for with whatever else is
    /// due. The planner takes a limit that it does not know for a tenth of all, so that each is within one that it knows.
    claim(claim: &Claim, now: Timestamp) binds [
        claim.room,
        claim.per_endpoint,
        joined(claim.running.keys()),
        joined(claim.running.values()),
        now.as_millis(),
        now.plus(claim.lease).as_millis(),
    ] to concat!("\
WITH endpoint AS MATERIALIZED (
    SELECT endpoint.*, greatest($2::TEXT::BIGINT - coalesce(running.attempts, 0), 0) AS room
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
        SELECT endpoint FROM pending WHERE due_at <= $5::TEXT::BIGINT
        ORDER BY due_at, id LIMIT $1::TEXT::BIGINT
    ) oldest GROUP BY endpoint
), locked AS MATERIALIZED (
    SELECT first.* FROM share CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at, leased FROM forum_api_deliveries
            WHERE endpoint = share.endpoint AND due_at <= $5::TEXT::BIGINT
            ORDER BY due_at, id LIMIT $2::TEXT::BIGINT FOR UPDATE SKIP LOCKED
        ) few LIMIT share.size
    ) first
), more AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at, leased FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= $5::TEXT::BIGINT AND id NOT IN (SELECT id FROM locked)
            ORDER BY due_at, id LIMIT $2::TEXT::BIGINT FOR UPDATE SKIP LOCKED
        ) few LIMIT endpoint.room - (SELECT count(*) FROM locked WHERE locked.endpoint = endpoint.id)
    ) first
    LIMIT (SELECT sum(size) FROM share) - (SELECT count(*) FROM locked)
), before AS MATERIALIZED (
    SELECT * FROM locked UNION ALL SELECT * FROM more
), leased AS (
    UPDATE forum_api_deliveries SET due_at = $6::TEXT::BIGINT, lease = lease + 1, leased = TRUE
    WHERE id = ANY (ARRAY(SELECT id FROM before))
    RETURNING id, event, topic, endpoint, created_at, state, attempts, lease
), delivery AS (
    SELECT leased.*, before.due_at, before.leased FROM leased JOIN before USING (id)
)
SELECT next.due_at::TEXT, delivery.lease::TEXT, delivery.leased::TEXT, ", deliveries::columns!(), ",
    ", outbox::columns!(), ",
    ", endpoints::columns!(), "
FROM (SELECT min(due_at) AS due_at FROM pending WHERE id NOT IN (SELECT id FROM before)) next
LEFT JOIN (
    delivery JOIN endpoint ON endpoint.id = delivery.endpoint
    CROSS JOIN LATERAL (SELECT * FROM forum_api_events WHERE id = delivery.event LIMIT 1) event
) ON TRUE
ORDER BY delivery.due_at, delivery.id");
}

/// What the rows of [`claim`] hold, of which every column is a text.
///
/// # Errors
/// When they are no such rows.
pub fn claims(rows: &[Vec<&str>]) -> Stored<Claims> {
    read(rows).ok_or_else(|| Fault::new("the rows of a claim hold no deliveries"))
}

fn read(rows: &[Vec<&str>]) -> Option<Claims> {
    let next = if_any(rows.first()?.first()?, time)?;
    let rows: Vec<_> = rows.iter().map(|row| claimed(row)).collect::<Option<_>>()?;
    let taken = rows.into_iter().flatten().collect();
    Some(Claims { taken, next })
}

/// Where nothing was taken the row has no lease.
fn claimed(row: &[&str]) -> Option<Option<Claimed>> {
    let [_next, lease, leased, rest @ ..] = row else {
        return None;
    };
    let (delivery, rest) = rest.split_at_checked(deliveries::COLUMNS)?;
    let (event, endpoint) = rest.split_at_checked(outbox::COLUMNS)?;
    if_any(lease, |lease| {
        Some(Claimed {
            delivery: deliveries::read(delivery)?,
            endpoint: endpoints::read(endpoint)?,
            event: outbox::read(event)?,
            lease_expired: truth(leased)?,
            lease: lease.parse().ok()?,
        })
    })
}
