//! Claim of deliveries.

use super::deliveries::{delivery_columns, millis, read_delivery};
use super::endpoints::{endpoint_columns, read_endpoint};
use super::execute::Columns;
use super::lease_clock::clock;
use super::outbox::{event_columns, read_event};
use super::{Postgres, PostgresError};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::{Claim, Claimed, Claims, report_unreadable};

/// Leases due deliveries, and returns the time until the next one is due.
///
/// Workers that claim at once skip what another one has locked, and wait for no lock. The statement first finds and locks
/// each endpoint's share of the oldest due deliveries; deliveries that other workers took meanwhile are replaced by others
/// that are due. The planner takes an unknown limit for a tenth of all rows, so each unknown limit is within a known one.
///
/// Its commit does not wait for the disk (`synchronous_commit`): nothing is sent before `begin_sending` is durable. The
/// number of a lease is at least the time in microseconds, so that a number whose commit was lost in a crash is not used
/// again.
const CLAIM: &str = concat!(
    "WITH ",
    clock!("$5"),
    ", endpoint AS MATERIALIZED (
    SELECT endpoint.*, set_config('synchronous_commit', 'off', TRUE),
        greatest($2 - coalesce(running.attempts, 0), 0) AS capacity
    FROM forum_api_endpoints endpoint
    LEFT JOIN unnest($3::TEXT[], $4::BIGINT[]) AS running (endpoint, attempts) ON running.endpoint = endpoint.id
    WHERE endpoint.enabled
), pending AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at IS NOT NULL
            ORDER BY due_at, id LIMIT $2
        ) few LIMIT endpoint.capacity
    ) first
), share AS MATERIALIZED (
    SELECT endpoint, count(*) AS size FROM (
        SELECT endpoint FROM pending WHERE due_at <= (SELECT now FROM clock)
        ORDER BY due_at, id LIMIT $1
    ) oldest GROUP BY endpoint
), locked AS MATERIALIZED (
    SELECT first.* FROM share CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = share.endpoint AND due_at <= (SELECT now FROM clock)
            ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) few LIMIT share.size
    ) first
), more AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) AND id NOT IN (SELECT id FROM locked)
            ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) few LIMIT endpoint.capacity - (SELECT count(*) FROM locked WHERE locked.endpoint = endpoint.id)
    ) first
    LIMIT (SELECT sum(size) FROM share) - (SELECT count(*) FROM locked)
), before AS MATERIALIZED (
    SELECT * FROM locked UNION ALL SELECT * FROM more
), leased AS (
    UPDATE forum_api_deliveries SET due_at = (SELECT now FROM clock) + $6,
        lease = greatest(lease + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT), leased = TRUE
    WHERE id = ANY (ARRAY(SELECT id FROM before))
    RETURNING id, event, topic, endpoint, created_at, state, attempts, lease, sending
), delivery AS (
    SELECT leased.*, before.due_at FROM leased JOIN before USING (id)
)
SELECT next.due_at - (SELECT now FROM clock), delivery.id, delivery.lease, delivery.sending,
    ",
    delivery_columns!(),
    ",\n    ",
    event_columns!(),
    ",\n    ",
    endpoint_columns!(),
    "
FROM (SELECT min(due_at) AS due_at FROM pending WHERE id NOT IN (SELECT id FROM before)) next
LEFT JOIN (
    delivery JOIN endpoint ON endpoint.id = delivery.endpoint
    CROSS JOIN LATERAL (SELECT * FROM forum_api_events WHERE id = delivery.event LIMIT 1) event
) ON TRUE
ORDER BY delivery.due_at, delivery.id"
);

impl Postgres {
    pub(super) async fn claim_due(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        let running: (Vec<_>, Vec<_>) = claim
            .running
            .iter()
            .map(|(to, n)| (to, i64::from(*n)))
            .unzip();
        let rows = self
            .query(
                CLAIM,
                &[
                    &i64::from(claim.room),
                    &i64::from(claim.per_endpoint),
                    &running.0,
                    &running.1,
                    &self.clock.time(now),
                    &millis(claim.lease),
                ],
            )
            .await?;
        let mut claims = Claims::default();
        for row in rows {
            let mut columns = Columns::of(&row);
            let wait: Option<i64> = columns.value()?;
            let due_at = |wait| Timestamp::from_millis(now.as_millis().saturating_add(wait));
            claims.next = claims.next.or(wait.map(due_at));
            let Some(id) = columns.value::<Option<&str>>()? else {
                continue;
            };
            match read_claimed(&mut columns, now.plus(claim.lease)) {
                Ok(claimed) => claims.taken.push(claimed),
                Err(reason) => {
                    report_unreadable("deliveries", id, &reason);
                    // It took the place of another one, which may be due.
                    claims.next = Some(now);
                }
            }
        }
        Ok(claims)
    }
}

/// `Err` holds the reason.
fn read_claimed(
    columns: &mut Columns<'_>,
    lease_until: Timestamp,
) -> std::result::Result<Claimed, String> {
    let reason = |error: PostgresError| error.to_string();
    let lease = columns.value().map_err(reason)?;
    let lease_expired = columns.value().map_err(reason)?;
    let delivery = read_delivery(columns).map_err(reason)?;
    let event = read_event(columns).map_err(|unreadable| unreadable.reason)?;
    let endpoint = read_endpoint(columns).map_err(reason)?;
    Ok(Claimed {
        delivery,
        endpoint,
        event,
        lease_expired,
        lease,
        lease_until,
    })
}
