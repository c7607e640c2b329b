//! What waits for a worker.

use crate::host::{Fault, Stored};
use crate::model::Timestamp;
use crate::store::Backlog;
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{if_any, time};

statements! {
    /// How much is due of enabled endpoints, and since when: one row, for [`counted`].
    backlog(now: Timestamp) binds [now.as_millis()] to "\
SELECT count(*)::TEXT, min(delivery.due_at)::TEXT
FROM forum_api_endpoints endpoint
JOIN forum_api_deliveries delivery ON delivery.endpoint = endpoint.id
WHERE endpoint.enabled AND delivery.due_at <= $1::TEXT::BIGINT";
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
