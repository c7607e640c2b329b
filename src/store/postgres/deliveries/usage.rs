//! Usage statistics, counted by the database.

use crate::error::{Fault, Stored};
use crate::model::{EndpointId, Timestamp};
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::joined;
use crate::store::{DeliveryCount, Usage};
use crate::webhook::State;

statements! {
    /// Counts deliveries by hour, endpoint and state, and attempts by duration: rows for [`usage_of`].
    usage(since: Timestamp, now: Timestamp) binds [
        since.as_millis(),
        now.as_millis(),
        joined(State::ALL.map(State::as_str)),
        joined(Usage::ATTEMPT_TIME_BOUNDS),
    ] to "\
SELECT hours_ago::TEXT, endpoint, state, count::TEXT FROM (
    SELECT greatest($2::TEXT::BIGINT - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM forum_api_deliveries
    WHERE state = ANY (string_to_array($3, ',')) AND created_at > $1::TEXT::BIGINT
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
UNION ALL
SELECT width_bucket(duration_ms, string_to_array($4, ',')::BIGINT[])::TEXT, '', '', count(*)::TEXT
FROM forum_api_attempts WHERE at > $1::TEXT::BIGINT GROUP BY 1";
}

/// Decodes the rows of [`usage`], in which every column is a text.
///
/// # Errors
/// When they are other rows.
pub fn usage_of(rows: &[Vec<&str>]) -> Stored<Usage> {
    let mut usage = Usage::default();
    let added = rows.iter().try_for_each(|row| add(&mut usage, row));
    match added {
        Some(()) => Ok(usage),
        None => Err(Fault::new("the rows hold no usage statistics")),
    }
}

fn add(usage: &mut Usage, row: &[&str]) -> Option<()> {
    let [group, endpoint, state, count] = row else {
        return None;
    };
    let count = count.parse().ok()?;
    if state.is_empty() {
        *usage.attempt_times.get_mut(group.parse::<usize>().ok()?)? = count;
    } else {
        usage.deliveries.push(DeliveryCount {
            hours_ago: group.parse().ok()?,
            endpoint: EndpointId::new(endpoint)?,
            state: State::new(state)?,
            count,
        });
    }
    Some(())
}
