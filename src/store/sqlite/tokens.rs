//! Tokens in SQLite.

use async_trait::async_trait;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Result, Row, params};

use super::run::{all, change, changes, first};
use super::{Database, SqliteError};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::Tokens;
use crate::token::{Lookup, TokenRecord};

const CREATE: &str = "
    INSERT INTO forum_api_tokens
        (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (lookup) DO NOTHING";

const FIND: &str = "SELECT * FROM forum_api_tokens WHERE lookup = ?1";

const REVOKE: &str = "
    UPDATE forum_api_tokens SET revoked_at = coalesce(revoked_at, ?2) WHERE lookup = ?1";

/// The third parameter is the latest noted use beside which the new one is news.
const USED: &str = "
    UPDATE forum_api_tokens SET last_used_at = ?2
    WHERE lookup = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)";

/// No lookup begins with `~` or a later character, so a list that begins behind `i64::MAX` and `~` is whole.
const LIST: &str = "
    SELECT * FROM forum_api_tokens WHERE (created_at, lookup) < (?1, ?2)
    ORDER BY created_at DESC, lookup DESC LIMIT ?3";

/// Tokens in the table `forum_api_tokens`.
#[derive(Clone, Debug)]
pub struct SqliteTokens(Database);

impl SqliteTokens {
    /// Tokens in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Tokens for SqliteTokens {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        let token = token.clone();
        self.0
            .write(move |savepoint| Ok(create(savepoint, &token)?))
            .await
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        let lookup = *lookup;
        self.0
            .read_short(move |connection| Ok(first(connection, FIND, [lookup], record)?))
            .await
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        let lookup = *lookup;
        self.0
            .write(move |savepoint| Ok(changes(savepoint, REVOKE, params![lookup, at])?))
            .await
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        let lookup = *lookup;
        let noted = at.minus(TokenRecord::USE_GRAIN);
        self.0.write_later::<SqliteError>(move |savepoint| {
            change(savepoint, USED, params![lookup, at, noted])?;
            Ok(())
        });
        Ok(())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> Stored<Vec<TokenRecord>> {
        let (created_at, lookup) = after.map_or((i64::MAX, "~".into()), |(created_at, lookup)| {
            (created_at.as_millis(), lookup.to_string())
        });
        self.0
            .read(move |connection| {
                let behind = params![created_at, lookup, limit];
                Ok(all(connection, LIST, behind, record)?)
            })
            .await
    }
}

fn create(connection: &Connection, token: &TokenRecord) -> Result<bool> {
    let row = params![
        token.lookup,
        token.digest,
        token.owner,
        token.label,
        serde_json::json!(&*token.scopes).to_string(),
        token.created_at,
        token.expires_at,
        token.revoked_at,
        token.last_used_at,
    ];
    changes(connection, CREATE, row)
}

fn record(row: &Row<'_>) -> Result<TokenRecord> {
    let scopes = serde_json::from_str::<Vec<_>>(row.get_ref("scopes")?.as_str()?);
    Ok(TokenRecord {
        lookup: row.get("lookup")?,
        digest: row.get("digest")?,
        owner: row.get("owner")?,
        label: row.get("label")?,
        scopes: scopes.map_err(|_| FromSqlError::InvalidType)?.into(),
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::LIST;
    use crate::store::sqlite::{DatabaseSettings, Location, connection, schema};

    #[test]
    fn a_list_is_read_from_the_index_by_age() {
        let connection =
            connection::writer(&Location::Memory, &DatabaseSettings::default()).unwrap();
        for step in schema::STEPS {
            connection.execute_batch(step).unwrap();
        }
        let explain = format!("EXPLAIN QUERY PLAN {LIST}");
        let mut explain = connection.prepare(&explain).unwrap();
        let steps = explain.raw_query().mapped(|row| row.get::<_, String>(3));
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        let search = "SEARCH forum_api_tokens USING INDEX forum_api_tokens_by_age ((created_at,lookup)<(?,?))";
        assert_eq!(steps, [search]);
    }
}
