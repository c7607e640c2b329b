//! Claim of deliveries.

use super::deliveries::millis;
use super::execute::RowReader;
use super::outbox::read_event;
use super::rows::{read_delivery, read_endpoint};
use super::{PostgresError, PostgresStore};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, report_unreadable};

const CLAIM: &str = include_str!("sql/claim.sql");

impl PostgresStore {
    pub(super) async fn claim_due(
        &self,
        request: &ClaimRequest,
        now: Timestamp,
    ) -> BackendResult<ClaimBatch> {
        let in_flight = request.in_flight_by_endpoint.iter();
        let in_flight = in_flight.map(|(endpoint, count)| (endpoint, i64::from(*count)));
        let (endpoints, counts): (Vec<_>, Vec<_>) = in_flight.unzip();
        let rows = self
            .query(
                CLAIM,
                &[
                    &i64::from(request.limit),
                    &i64::from(request.max_in_flight_per_endpoint),
                    &endpoints,
                    &counts,
                    &self.clock.time(now),
                    &millis(request.lease_duration),
                    &i64::from(request.max_failing),
                ],
            )
            .await?;
        let mut batch = ClaimBatch::default();
        for row in rows {
            let mut columns = RowReader::of(&row);
            let due_in: Option<i64> = columns.value("due_in")?;
            let due_at = |due_in| Timestamp::from_millis(now.as_millis().saturating_add(due_in));
            batch.next_due_at = batch.next_due_at.or(due_in.map(due_at));
            let Some(id) = columns.value::<Option<&str>>("id")? else {
                continue;
            };
            match read_claimed(&mut columns, now.saturating_add(request.lease_duration)) {
                Ok(claimed) => batch.deliveries.push(claimed),
                Err(reason) => {
                    report_unreadable("deliveries", id, &reason);
                    // The unreadable delivery counts towards the limit, so another delivery may be due.
                    batch.next_due_at = Some(now);
                }
            }
        }
        Ok(batch)
    }
}

/// `Err` holds the reason why the delivery cannot be decoded.
fn read_claimed(
    columns: &mut RowReader<'_>,
    lease_expires_at: Timestamp,
) -> std::result::Result<ClaimedDelivery, String> {
    let reason = |error: PostgresError| error.to_string();
    let lease_id = columns.value("lease").map_err(reason)?;
    let lease_expired = columns.value("lease_expired").map_err(reason)?;
    let delivery = read_delivery(columns).map_err(reason)?;
    let event = read_event(columns).map_err(|unreadable| unreadable.reason)?;
    let endpoint = read_endpoint(columns).map_err(reason)?;
    Ok(ClaimedDelivery {
        delivery,
        endpoint,
        event,
        previous_lease_expired: lease_expired,
        lease_id,
        lease_expires_at,
    })
}
