//! Claim of deliveries.

use super::deliveries::{millis, read_delivery};
use super::endpoints::read_endpoint;
use super::execute::Columns;
use super::outbox::read_event;
use super::{PostgresError, PostgresStore};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, report_unreadable};

const CLAIM: &str = include_str!("sql/claim.sql");

impl PostgresStore {
    pub(super) async fn claim_due(
        &self,
        claim: &ClaimRequest,
        now: Timestamp,
    ) -> BackendResult<ClaimBatch> {
        let running: (Vec<_>, Vec<_>) = claim
            .in_flight
            .iter()
            .map(|(to, n)| (to, i64::from(*n)))
            .unzip();
        let rows = self
            .query(
                CLAIM,
                &[
                    &i64::from(claim.limit),
                    &i64::from(claim.per_endpoint),
                    &running.0,
                    &running.1,
                    &self.clock.time(now),
                    &millis(claim.lease),
                ],
            )
            .await?;
        let mut claims = ClaimBatch::default();
        for row in rows {
            let mut columns = Columns::of(&row);
            let wait: Option<i64> = columns.value()?;
            let due_at = |wait| Timestamp::from_millis(now.as_millis().saturating_add(wait));
            claims.next_due_at = claims.next_due_at.or(wait.map(due_at));
            let Some(id) = columns.value::<Option<&str>>()? else {
                continue;
            };
            match read_claimed(&mut columns, now.saturating_add(claim.lease)) {
                Ok(claimed) => claims.deliveries.push(claimed),
                Err(reason) => {
                    report_unreadable("deliveries", id, &reason);
                    // It took the place of another one, which may be due.
                    claims.next_due_at = Some(now);
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
) -> std::result::Result<ClaimedDelivery, String> {
    let reason = |error: PostgresError| error.to_string();
    let lease = columns.value().map_err(reason)?;
    let lease_expired = columns.value().map_err(reason)?;
    let delivery = read_delivery(columns).map_err(reason)?;
    let event = read_event(columns).map_err(|unreadable| unreadable.reason)?;
    let endpoint = read_endpoint(columns).map_err(reason)?;
    Ok(ClaimedDelivery {
        delivery,
        endpoint,
        event,
        lease_expired,
        lease_id: lease,
        lease_until,
    })
}
