//! Sums of usage.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::execute::{Result, change};
use crate::store::TokenUsage;
use crate::store::sql::UsageTable;
use crate::token::Lookup;

pub(super) fn add(connection: &Connection, usage: &[TokenUsage]) -> Result<()> {
    let [to_tokens, to_operations] = [UsageTable::TOKENS, UsageTable::OPERATIONS].map(statement);
    for one in usage {
        let token = one.token.as_ref().map_or("", Lookup::as_str);
        let operation = one.operation.unwrap_or_default();
        for (add, key) in [(&to_tokens, token), (&to_operations, operation)] {
            let key = [one.hour.as_millis().into(), key.to_owned().into()];
            let row = key.into_iter().chain(one.counts.to_row().map(Value::from));
            change(connection, add, params_from_iter(row))?;
        }
    }
    Ok(())
}

/// Returns the statement that adds a row.
fn statement(table: UsageTable) -> String {
    let UsageTable { name, key } = table;
    let add_to_stored = table.add_to_stored();
    format!(
        "INSERT INTO {name} AS stored
            (hour, {key}, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        {add_to_stored}"
    )
}
