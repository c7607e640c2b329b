//! Claim of deliveries.

use super::columns::Prefixed;
use super::execute::{Parameters, PostgresExecutor, millis};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sql::{
    ColumnResult, Columns, read_claimed_event, read_delivery, read_endpoint, report_unreadable,
};
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery};

const CLAIM: &str = include_str!("sql/claim.sql");

impl PostgresExecutor {
    pub(super) async fn claim_due(
        &self,
        request: &ClaimRequest,
        now: Timestamp,
    ) -> BackendResult<ClaimBatch> {
        let (endpoints, counts): (Vec<_>, Vec<_>) = request
            .in_flight_by_endpoint
            .iter()
            .map(|(endpoint, count)| (endpoint, i64::from(*count)))
            .unzip();
        let parameters: Parameters<'_> = &[
            &i64::from(request.limit),
            &i64::from(request.max_in_flight_per_endpoint),
            &endpoints,
            &counts,
            &self.clock.time(now),
            &millis(request.lease_duration),
            &i64::from(request.max_impaired),
        ];
        let rows = self.query(CLAIM, parameters).await?;
        let mut batch = ClaimBatch::default();
        for row in rows {
            let row: &dyn Columns = &row;
            let due_in: Option<i64> = row.optional("due_in")?;
            let due_at = |due_in| Timestamp::from_millis(now.as_millis().saturating_add(due_in));
            batch.next_due_at = batch.next_due_at.or(due_in.map(due_at));
            let Some(id) = row.text("id")? else {
                continue;
            };
            match read_claimed(row, now.saturating_add(request.lease_duration)) {
                Ok(claimed) => batch.deliveries.push(claimed),
                Err(error) => {
                    report_unreadable("deliveries", id, &error.to_string());
                    // The unreadable delivery counts towards the limit, so another delivery may be due.
                    batch.next_due_at = Some(now);
                }
            }
        }
        Ok(batch)
    }
}

fn read_claimed(row: &dyn Columns, lease_expires_at: Timestamp) -> ColumnResult<ClaimedDelivery> {
    let endpoint = Prefixed { columns: row, prefix: "endpoint_" };
    let delivery = read_delivery(row)?;
    Ok(ClaimedDelivery {
        event: read_claimed_event(row, &delivery)?,
        delivery,
        endpoint: read_endpoint(&endpoint)?,
        previous_lease_expired: row.value("sending")?,
        lease_id: row.value("lease")?,
        lease_expires_at,
    })
}
