//! Sums of usage.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::execute::{Result, change};
use crate::store::TokenUsage;
use crate::token::Lookup;

const ADD: &str = "
    INSERT INTO forum_api_usage AS stored
        (hour, token, operation, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (hour, token, operation) DO UPDATE SET
        requests = stored.requests + excluded.requests,
        units = stored.units + excluded.units,
        rate_limited = stored.rate_limited + excluded.rate_limited,
        unauthenticated = stored.unauthenticated + excluded.unauthenticated,
        forbidden = stored.forbidden + excluded.forbidden,
        rejected = stored.rejected + excluded.rejected,
        errors = stored.errors + excluded.errors";

pub(super) fn add(connection: &Connection, usage: &[TokenUsage]) -> Result<()> {
    for one in usage {
        let token = one.token.as_ref().map_or("", Lookup::as_str);
        let texts =
            [token, one.operation.unwrap_or_default()].map(|text| Value::from(text.to_owned()));
        let key = std::iter::once(Value::from(one.hour.as_millis())).chain(texts);
        let row = key.chain(one.counts.to_row().map(Value::from));
        change(connection, ADD, params_from_iter(row))?;
    }
    Ok(())
}
