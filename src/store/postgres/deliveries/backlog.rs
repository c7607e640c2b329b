//! What waits for a worker.

use crate::error::{Fault, Stored};
use crate::model::Timestamp;
use crate::store::Backlog;
use crate::store::postgres::lease_clock::clock;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{if_any, time};
use crate::store::postgres::{LeaseClock, Statement};

statements! {
    /// Counts what is due of enabled endpoints, up to [`Backlog::MAX_DEPTH`], and finds the earliest due time: one row, for
    /// [`counted`].
    backlog(now: Timestamp, clock: LeaseClock) binds [
        clock.parameter(now),
        Backlog::MAX_DEPTH,
    ] to concat!("WITH ", clock!("$1"), ", due AS MATERIALIZED (
    SELECT first.due_at, many.depth FROM forum_api_endpoints endpoint CROSS JOIN LATERAL (
        SELECT due_at FROM forum_api_deliveries
        WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) ORDER BY due_at LIMIT 1
    ) first CROSS JOIN LATERAL (
        SELECT count(*) AS depth FROM (
            SELECT FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) LIMIT $2::TEXT::BIGINT
        ) few
    ) many
    WHERE endpoint.enabled
)
SELECT least(coalesce(sum(depth), 0), $2::TEXT::BIGINT)::TEXT, min(due_at)::TEXT FROM due");
}

/// What the row of [`backlog`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn counted(columns: &[&str]) -> Stored<Backlog> {
    read(columns).ok_or_else(|| Fault::new("a row of a backlog holds no counts"))
}

fn read(columns: &[&str]) -> Option<Backlog> {
    let [depth, since] = columns else {
        return None;
    };
    Some(Backlog {
        depth: depth.parse().ok()?,
        since: if_any(since, time)?,
    })
}
