//! Deliveries, as an operator sees them.

use super::{COLUMNS, columns, is_there, read};
use crate::error::{Fault, Stored};
use crate::model::DeliveryId;
use crate::store::Filter;
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;
use crate::store::postgres::text::{if_any, joined, time};
use crate::webhook::{Attempted, Delivery, State};

/// A list that merges a walk for each state over an index that begins with the columns of the conditions.
macro_rules! list {
    ($conditions:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            "\nFROM unnest(string_to_array($1, ',')) AS listed (state)
CROSS JOIN LATERAL (
    SELECT * FROM forum_api_deliveries delivery
    WHERE state = listed.state AND ",
            $conditions,
            " AND (created_at, id) < ($4::TEXT::BIGINT, $5)
        AND ",
            is_there!(),
            "
    ORDER BY created_at DESC, id DESC LIMIT $6::TEXT::BIGINT
) delivery
ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT $6::TEXT::BIGINT"
        )
    };
}

statements! {
    /// Finds a delivery and its attempts: rows for [`found`], one for each attempt, or one where there is none yet.
    find(id: &DeliveryId) binds [id] to concat!("SELECT ", columns!(), ",
    attempt::TEXT, at::TEXT, status::TEXT, to_json(error)::TEXT, duration_ms::TEXT, to_json(answer)::TEXT
FROM forum_api_deliveries delivery
LEFT JOIN forum_api_attempts attempted ON attempted.delivery = delivery.id
WHERE delivery.id = $1 AND ", is_there!(), "
ORDER BY attempted.number");
}

/// Lists deliveries, the newest first: rows for [`delivery`](super::delivery). There is a text for each index that a list
/// may walk. Every index is ordered by time within each state.
pub fn list(filter: &Filter) -> Statement {
    let sql = match (&filter.endpoint, &filter.topic) {
        (Some(_), Some(_)) => list!("endpoint = $2 AND topic = $3"),
        (Some(_), None) => list!("endpoint = $2 AND $3 = ''"),
        (None, Some(_)) => list!("$2 = '' AND topic = $3"),
        (None, None) => list!("$2 = '' AND $3 = ''"),
    };
    let states = match filter.state {
        Some(state) => state.as_str().into(),
        None => joined(State::ALL.map(State::as_str)),
    };
    let endpoint = filter.endpoint.as_ref().map(ToString::to_string);
    let topic = filter.topic.as_ref().map(ToString::to_string);
    let (created_at, id) = match &filter.after {
        Some((created_at, id)) => (created_at.as_millis(), id.to_string()),
        None => (i64::MAX, String::new()),
    };
    let parameters = [
        states,
        endpoint.unwrap_or_default(),
        topic.unwrap_or_default(),
        created_at.to_string(),
        id,
        filter.limit.to_string(),
    ];
    Statement::new(sql, parameters)
}

/// The delivery that the rows of [`find`] hold, of which every column is a text, and its attempts.
///
/// # Errors
/// When they are no such rows.
pub fn found(rows: &[Vec<&str>]) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let found = first
        .split_at_checked(COLUMNS)
        .and_then(|(delivery, _)| read(delivery))
        .zip(rows.iter().map(|row| attempt(row)).collect());
    let (delivery, attempts): (_, Vec<Option<Attempted>>) =
        found.ok_or_else(|| Fault::new("the rows hold no delivery and its attempts"))?;
    Ok(Some((delivery, attempts.into_iter().flatten().collect())))
}

/// The one row of a delivery that was never attempted tells of no attempt.
fn attempt(row: &[&str]) -> Option<Option<Attempted>> {
    let [attempt, at, status, error, duration_ms, answer] = row.get(COLUMNS..)? else {
        return None;
    };
    if_any(attempt, |attempt| {
        Some(Attempted {
            attempt: attempt.parse().ok()?,
            at: time(at)?,
            status: if_any(status, |status| status.parse().ok())?,
            error: if_any(error, |error| serde_json::from_str(error).ok())?,
            duration_ms: duration_ms.parse().ok()?,
            answer: if_any(answer, |answer| serde_json::from_str(answer).ok())?,
        })
    })
}
