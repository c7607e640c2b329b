//! Claim of deliveries.

use super::Parameter;
use super::execute::{PostgresExecutor, millis};
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
        let in_flight = &request.in_flight_by_endpoint;
        let parameters = [
            request.limit.into(),
            request.max_in_flight_per_endpoint.into(),
            Parameter::texts(in_flight.keys()),
            Parameter::integers(in_flight.values().copied()),
            self.clock.time(now).into(),
            millis(request.lease_duration).into(),
            request.max_impaired.into(),
        ];
        let lease_expires_at = now.saturating_add(request.lease_duration);
        let read = |row: &dyn Columns| read_row(row, lease_expires_at);
        let rows = self.all_asynchronous(CLAIM, &parameters, read).await?;
        let mut batch = ClaimBatch::default();
        for row in rows {
            let due_at = |due_in| Timestamp::from_millis(now.as_millis().saturating_add(due_in));
            batch.next_due_at = batch.next_due_at.or(row.due_in.map(due_at));
            match row.claimed {
                Some(Ok(claimed)) => batch.deliveries.push(claimed),
                Some(Err(Unreadable { id, reason })) => {
                    report_unreadable("deliveries", &id, &reason);
                    // The unreadable delivery counts towards the limit, so another delivery may be due.
                    batch.next_due_at = Some(now);
                }
                None => {}
            }
        }
        Ok(batch)
    }
}

/// A row of a claim.
struct ClaimRow {
    /// Time in milliseconds until the next delivery is due that is not in the batch.
    due_in: Option<i64>,
    /// `None` for the only row of a claim without deliveries.
    claimed: Option<Result<ClaimedDelivery, Unreadable>>,
}

/// A delivery that cannot be decoded.
struct Unreadable {
    id: String,
    reason: String,
}

fn read_row(row: &dyn Columns, lease_expires_at: Timestamp) -> ColumnResult<ClaimRow> {
    let claimed = row.text("id")?.map(|id| {
        read_claimed(row, lease_expires_at)
            .map_err(|error| Unreadable { id: id.into(), reason: error.to_string() })
    });
    Ok(ClaimRow { due_in: row.optional("due_in")?, claimed })
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

/// Columns whose names begin with a prefix.
struct Prefixed<'a> {
    columns: &'a dyn Columns,
    prefix: &'static str,
}

impl Prefixed<'_> {
    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Columns for Prefixed<'_> {
    fn integer(&self, name: &str) -> ColumnResult<Option<i64>> {
        self.columns.integer(&self.full(name))
    }

    fn boolean(&self, name: &str) -> ColumnResult<Option<bool>> {
        self.columns.boolean(&self.full(name))
    }

    fn text(&self, name: &str) -> ColumnResult<Option<&str>> {
        self.columns.text(&self.full(name))
    }

    fn bytes(&self, name: &str) -> ColumnResult<Option<&[u8]>> {
        self.columns.bytes(&self.full(name))
    }
}
