//! Lists of deliveries. Every combination of filters walks an index that holds no other rows.

use rusqlite::{Connection, Result, Row, params};

use super::deliveries::delivery;
use super::readable;
use crate::store::Filter;
use crate::store::sqlite::run::all;
use crate::webhook::{Delivery, State};

/// The statement that lists the deliveries that `filter` selects, newest first.
///
/// Every index that it may walk is ordered by time within each state: without a state it merges one walk for each. Its
/// parameters are the same for every filter: the position to continue from, the limit, endpoint and topic.
pub(super) fn statement(filter: &Filter) -> String {
    let states = filter
        .state
        .map_or(State::ALL.to_vec(), |state| vec![state]);
    let walks = states.into_iter().map(|state| walk(filter, state));
    let walks: Vec<_> = walks.collect();
    format!(
        "{} ORDER BY created_at DESC, id DESC LIMIT ?3",
        walks.join(" UNION ALL ")
    )
}

/// The newest of one state.
fn walk(filter: &Filter, state: State) -> String {
    let conditions = [
        condition("(created_at, id) < (?1, ?2)", 1, filter.after.is_some()),
        condition("endpoint = ?4", 4, filter.endpoint.is_some()),
        condition("topic = ?5", 5, filter.topic.is_some()),
    ];
    format!(
        "SELECT * FROM (
            SELECT * FROM forum_api_deliveries
            WHERE state = '{state}' AND {conditions}
                AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
            ORDER BY created_at DESC, id DESC LIMIT ?3
        )",
        state = state.as_str(),
        conditions = conditions.join(" AND ")
    )
}

/// A filter that is not set is not a condition on a column, so that it keeps from no index.
fn condition(sql: &str, parameter: u8, is_set: bool) -> String {
    match is_set {
        true => sql.into(),
        false => format!("?{parameter} IS NULL"),
    }
}

pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Delivery>> {
    let after = filter.after.as_ref();
    let parameters = params![
        after.map(|(created_at, _)| created_at),
        after.map(|(_, id)| id),
        filter.limit,
        filter.endpoint,
        filter.topic,
    ];
    let read = |row: &Row<'_>| readable("deliveries", row, delivery(row));
    let listed = all(connection, &statement(filter), parameters, read)?;
    Ok(listed.into_iter().flatten().collect())
}
