//! Statements about tokens: an operation of [`Tokens`](crate::store::Tokens) each.

use super::Statement;
use super::statement::statements;
use super::text::{base64, bytes, if_any, millis_if_any, time};
use crate::error::{Fault, Stored};
use crate::model::{Timestamp, UserId};
use crate::token::{Digest, Lookup, TokenRecord};

macro_rules! columns {
    () => {
        "\
SELECT lookup, encode(digest, 'base64'), owner, label, scopes, created_at::TEXT,
    expires_at::TEXT, revoked_at::TEXT, last_used_at::TEXT
FROM forum_api_tokens"
    };
}

statements! {
    /// Adds a token. It changes one row, or none when the lookup is taken.
    create(token: &TokenRecord) binds [
        token.lookup,
        base64(token.digest.as_bytes()),
        token.owner,
        token.label,
        serde_json::json!(&*token.scopes),
        token.created_at.as_millis(),
        millis_if_any(token.expires_at),
        millis_if_any(token.revoked_at),
        millis_if_any(token.last_used_at),
    ] to "\
INSERT INTO forum_api_tokens
    (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at)
VALUES ($1, decode($2, 'base64'), $3, $4, $5, $6::TEXT::BIGINT,
    NULLIF($7, '')::BIGINT, NULLIF($8, '')::BIGINT, NULLIF($9, '')::BIGINT)
ON CONFLICT (lookup) DO NOTHING";

    /// Finds a token: one row for [`record`], or none.
    find(lookup: &Lookup) binds [lookup] to concat!(columns!(), "\nWHERE lookup = $1");

    /// Revokes a token. It changes one row, or none when there is no such token.
    revoke(lookup: &Lookup, at: Timestamp) binds [lookup, at.as_millis()] to "\
UPDATE forum_api_tokens SET revoked_at = coalesce(revoked_at, $2::TEXT::BIGINT) WHERE lookup = $1";

    /// Notes a use, if it is news: the third parameter is the latest noted use beside which it is. It waits for nobody
    /// else who notes one, and its commit waits for no disk (`synchronous_commit`): it is run outside transactions.
    used(lookup: &Lookup, at: Timestamp) binds [
        lookup,
        at.as_millis(),
        at.minus(TokenRecord::USE_GRAIN).as_millis(),
    ] to "\
WITH noted AS (
    SELECT lookup, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_tokens
    WHERE lookup = $1 AND (last_used_at IS NULL OR last_used_at <= $3::TEXT::BIGINT)
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE forum_api_tokens SET last_used_at = $2::TEXT::BIGINT
FROM noted WHERE forum_api_tokens.lookup = noted.lookup";

    /// Lists tokens: rows for [`record`], newest first. No lookup begins with `~` or a later character, so a list that
    /// begins behind `i64::MAX` and `~` is whole.
    list(after: Option<&(Timestamp, Lookup)>, limit: u32) binds [
        after.map_or(i64::MAX, |(created_at, _)| created_at.as_millis()),
        after.map_or("~", |(_, lookup)| lookup.as_str()),
        limit,
    ] to concat!(columns!(), "\nWHERE (created_at, lookup) < ($1::TEXT::BIGINT, $2)
ORDER BY forum_api_tokens.created_at DESC, lookup DESC LIMIT $3::TEXT::BIGINT");
}

/// The token that a row of [`find`] or [`list`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn record(columns: &[&str]) -> Stored<TokenRecord> {
    read(columns).ok_or_else(|| Fault::new("a row of forum_api_tokens holds no token"))
}

fn read(columns: &[&str]) -> Option<TokenRecord> {
    let [
        lookup,
        digest,
        owner,
        label,
        scopes,
        created,
        expires,
        revoked,
        used,
    ] = columns
    else {
        return None;
    };
    Some(TokenRecord {
        lookup: Lookup::parse(lookup)?,
        digest: Digest::new(bytes(digest)?.try_into().ok()?),
        owner: UserId::new(owner)?,
        label: (*label).into(),
        scopes: serde_json::from_str::<Vec<_>>(scopes).ok()?.into(),
        created_at: time(created)?,
        expires_at: if_any(expires, time)?,
        revoked_at: if_any(revoked, time)?,
        last_used_at: if_any(used, time)?,
    })
}
