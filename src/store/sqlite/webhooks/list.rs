//! Lists of deliveries: each walks the index of what it is filtered by.

use rusqlite::{Connection, Result, params};

use super::deliveries::delivery;
use crate::store::Filter;
use crate::store::sqlite::run::all;
use crate::webhook::Delivery;

/// The statement that lists what `filter` lets through, newest first.
///
/// Whatever it filters by, its parameters are the place to go on from, the limit, state, endpoint and topic.
pub(super) fn statement(filter: &Filter) -> String {
    // Few are in the state that is asked for, as a rule: by it they are found, and `+` keeps from the endpoint's index.
    let endpoint = match filter.state {
        Some(_) => "+endpoint = ?5",
        None => "endpoint = ?5",
    };
    let conditions = [
        condition("(created_at, id) < (?1, ?2)", 1, filter.after.is_some()),
        condition("state = ?4", 4, filter.state.is_some()),
        condition(endpoint, 5, filter.endpoint.is_some()),
        condition("topic = ?6", 6, filter.topic.is_some()),
    ];
    format!(
        "SELECT * FROM forum_api_deliveries
        WHERE {} AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
        ORDER BY created_at DESC, id DESC LIMIT ?3",
        conditions.join(" AND ")
    )
}

/// What is not asked for is no condition on a column, so that it keeps from no index.
fn condition(sql: &str, parameter: u8, is_asked: bool) -> String {
    match is_asked {
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
        filter.state,
        filter.endpoint,
        filter.topic,
    ];
    all(connection, &statement(filter), parameters, delivery)
}
