//! Schema and statements of the SQLite tables, for hosts whose SQLite driver is not compatible with `rusqlite`.
//!
//! The feature `sqlite` links the SQLite of `rusqlite`, and a program can contain only one version of `libsqlite3-sys`.
//! A host whose driver fits no version of `rusqlite` that the feature accepts
//! ([guide](crate::guide::stores#other-sqlite-drivers)) does not enable the feature. Instead it uses its own pool:
//!
//! - It implements [`TokenStore`](crate::store::TokenStore) and [`IdempotencyStore`](crate::store::IdempotencyStore)
//!   with the statements of this module.
//! - It inserts events with [`Event::INSERT_SQL`](crate::webhook::Event::INSERT_SQL).
//! - It inserts entries of the audit log with [`AuditEntry::INSERT_SQL`](crate::audit::AuditEntry::INSERT_SQL).
//!
//! This module does not depend on a feature. The feature `sqlite` uses the same schema and the same statements, so that
//! a second program with that feature can open the file, for example to deliver the webhooks
//! ([guide](crate::guide::stores)).
//!
//! # Stability
//!
//! The names of statements, their parameters and their result columns change only in a breaking release; their texts
//! can change in any release. Later migrations only add tables, indexes and optional columns. The tables of endpoints,
//! deliveries and attempts belong to the webhook worker: their statements are not public, because they depend on each
//! other.
//!
//! # Values
//!
//! | type | column |
//! |---|---|
//! | [`Lookup`](crate::token::Lookup), ids, keys | `TEXT` |
//! | [`SecretDigest`](crate::token::SecretDigest), fingerprints | `BLOB` of 32 bytes |
//! | [`Timestamp`](crate::model::Timestamp) | `INTEGER`: milliseconds since 1970-01-01T00:00:00Z |
//! | scopes | `TEXT`: a JSON array of strings |
//!
//! # Migrations
//!
//! A host with a migration tool adds the [`migration_scripts`] to its migrations. Another host runs these steps in one
//! transaction that begins with `BEGIN IMMEDIATE`:
//!
//! 1. the statement of [`Migrations::create_table_sql`];
//! 2. the query of [`Migrations::applied_sql`], whose rows are pairs of texts;
//! 3. the statements of [`Migrations::pending_sql`].
//!
//! ```
//! use forum_api::store::MigrationError;
//! use forum_api::store::sqlite_schema::MIGRATIONS;
//!
//! trait Driver {
//!     fn execute(&mut self, sql: &str);
//!     fn pairs(&mut self, sql: &str) -> Vec<(String, String)>;
//! }
//!
//! fn migrate(transaction: &mut dyn Driver) -> Result<(), MigrationError> {
//!     transaction.execute(&MIGRATIONS.create_table_sql());
//!     let applied = transaction.pairs(&MIGRATIONS.applied_sql());
//!     transaction.execute(&MIGRATIONS.pending_sql(&applied)?);
//!     Ok(())
//! }
//! ```
//!
//! ```sql
#![doc = include_str!("sqlite/migrations/0001_init.sql")]
//! ```

use super::migrations::{MigrationScript, Migrations, migrations};

/// Migrations of the library's tables.
pub const MIGRATIONS: Migrations = migrations!("sqlite/migrations": "0001_init");

/// Returns the migrations of the library's tables for the migrations of a host. Each script is several statements, which fail
/// if its migration is applied.
pub fn migration_scripts() -> Vec<MigrationScript> {
    MIGRATIONS.scripts()
}

/// Statements of the table `forum_api_tokens`, one for each method of [`TokenStore`](crate::store::TokenStore).
///
/// [`FIND`](tokens::FIND) and [`list`](tokens::list) return the columns `lookup`, `digest`, `owner`, `label`, `scopes`,
/// `created_at`, `expires_at`, `revoked_at` and `last_used_at`, in this order: the fields of
/// [`TokenRecord`](crate::token::TokenRecord). The last three can be null.
pub mod tokens {
    use crate::store::{TokenFilter, TokenStateFilter};
    use crate::token::TokenState;

    /// Adds a token. Changes no row if its lookup exists.
    ///
    /// The parameters `?1` to `?9` are the columns in the order of the [module](self).
    pub const CREATE: &str = "
        INSERT INTO forum_api_tokens
            (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (lookup) DO NOTHING";

    /// Returns the token with the lookup `?1`.
    pub const FIND: &str = "
        SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
        FROM forum_api_tokens WHERE lookup = ?1";

    /// Revokes the token with the lookup `?1` at the time `?2`. Changes no row if the token is already revoked or does not
    /// exist.
    pub const REVOKE: &str = "
        UPDATE forum_api_tokens SET revoked_at = ?2 WHERE lookup = ?1 AND revoked_at IS NULL";

    /// Records the use of the token with the lookup `?1` at the time `?2`, unless a use between `?3` and `?4` is recorded.
    /// They are `?2` minus and plus
    /// [`TokenRecord::LAST_USED_RESOLUTION`](crate::token::TokenRecord::LAST_USED_RESOLUTION): a use that is further ahead
    /// was recorded by a clock that was ahead.
    pub const RECORD_USE: &str = "
        UPDATE forum_api_tokens SET last_used_at = ?2
        WHERE lookup = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3 OR last_used_at >= ?4)";

    /// Changes the label of the token with the lookup `?1` to `?2`. Changes no row if the token has this label or does not
    /// exist.
    pub const SET_LABEL: &str =
        "UPDATE forum_api_tokens SET label = ?2 WHERE lookup = ?1 AND label <> ?2";

    /// Returns the statement that lists tokens, newest first. It always has seven parameters:
    ///
    /// - `?1` and `?2`: creation time and lookup of the token after which the list continues. For the beginning of the
    ///   list, `?1` is `i64::MAX` and `?2` is `~`, which is greater than every lookup.
    /// - `?3`: maximum number of tokens.
    /// - `?4`: time at which the states of the tokens are determined.
    /// - `?5`: the owner; null if the filter has none.
    /// - `?6` and `?7`: text and owner of the search; each is null if the filter has none.
    pub fn list(filter: &TokenFilter) -> String {
        list_statement(filter, "instr(lower(label), lower(?6)) > 0")
    }

    /// Returns the statement of [`list`] with the condition that a label contains the text `?6`.
    pub(crate) fn list_statement(filter: &TokenFilter, label_contains: &str) -> String {
        let owner = match filter.owner {
            Some(_) => "owner = ?5",
            None => "CAST(?5 AS TEXT) IS NULL",
        };
        let states = match filter.states {
            TokenStateFilter::Any => "TRUE",
            TokenStateFilter::NotRevoked => "revoked_at IS NULL",
            TokenStateFilter::ExpiringSoon => {
                let soon = TokenStateFilter::SOON.as_millis();
                &format!("revoked_at IS NULL AND expires_at > ?4 AND expires_at - {soon} <= ?4")
            }
            TokenStateFilter::Only(TokenState::Valid) => {
                "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?4)"
            }
            TokenStateFilter::Only(TokenState::Expired) => {
                "revoked_at IS NULL AND expires_at <= ?4"
            }
            TokenStateFilter::Only(TokenState::Revoked) => "revoked_at IS NOT NULL",
        };
        let search = match filter.search {
            Some(_) => {
                format!("({label_contains} OR substr(lookup, 1, length(?6)) = ?6 OR owner = ?7)")
            }
            None => "CAST(?6 AS TEXT) IS NULL AND CAST(?7 AS TEXT) IS NULL".into(),
        };
        format!(
            "
        SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
        FROM forum_api_tokens
        WHERE (created_at, lookup) < (?1, ?2) AND CAST(?4 AS BIGINT) IS NOT NULL AND {owner} AND {states} AND {search}
        ORDER BY created_at DESC, lookup DESC LIMIT ?3"
        )
    }

    /// Removes up to `?2` tokens that expired or were revoked before `?1`.
    pub const PURGE: &str = "
        DELETE FROM forum_api_tokens WHERE lookup IN (
            SELECT lookup FROM (
                SELECT lookup FROM forum_api_tokens
                WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2
            ) few
            UNION ALL
            SELECT lookup FROM (
                SELECT lookup FROM forum_api_tokens
                WHERE revoked_at < ?1 AND (expires_at IS NULL OR expires_at >= ?1)
                ORDER BY revoked_at LIMIT ?2
            ) few
            LIMIT ?2)";
}

/// Statements of the table `forum_api_idempotency_keys`, for an [`IdempotencyStore`](crate::store::IdempotencyStore).
///
/// [`begin`](crate::store::IdempotencyStore::begin) is one transaction that begins with `BEGIN IMMEDIATE`:
///
/// 1. [`DELETE_EXPIRED`](idempotency::DELETE_EXPIRED) and [`FIND`](idempotency::FIND);
/// 2. for a row that is not [expired](crate::store::IdempotencyRecord::is_expired),
///    [`outcome_for`](crate::store::IdempotencyRecord::outcome_for) returns the outcome;
/// 3. otherwise [`RESERVE`](idempotency::RESERVE) reserves the key.
///
/// [`complete`](crate::store::IdempotencyStore::complete) is [`COMPLETE`](idempotency::COMPLETE), or
/// [`RELEASE`](idempotency::RELEASE) for [`NotExecuted`](crate::store::Completion::NotExecuted).
pub mod idempotency {
    /// Deletes up to eight keys whose first run started at `?1` or before. `?1` is the current time minus
    /// [`IdempotencyRecord::TTL`](crate::store::IdempotencyRecord::TTL).
    ///
    /// Each request reserves one key and deletes up to eight, so expired keys do not accumulate. Eight are few enough
    /// not to delay other writes.
    pub const DELETE_EXPIRED: &str = "
        DELETE FROM forum_api_idempotency_keys WHERE rowid IN (
            SELECT rowid FROM forum_api_idempotency_keys
            WHERE began_at <= ?1 ORDER BY began_at LIMIT 8)";

    /// Returns the record of the key `?2` in the namespace `?1`.
    ///
    /// The columns are `request` (the fingerprint), `began_at`, `ended`, `status`, `location`, `body`, `forum_id`,
    /// `thread_id` and `post_id`, in this order. A row with `ended` = 0 is in progress. A row with `ended` = 1 and
    /// `status` null has an unknown outcome.
    pub const FIND: &str = "
        SELECT request, began_at, ended, status, location, body, forum_id, thread_id, post_id
        FROM forum_api_idempotency_keys WHERE namespace = ?1 AND key = ?2";

    /// Reserves the key `?2` in the namespace `?1` for the request with the fingerprint `?3`, at the time `?4`.
    /// Replaces an expired record.
    pub const RESERVE: &str = "
        REPLACE INTO forum_api_idempotency_keys (namespace, key, request, began_at)
        VALUES (?1, ?2, ?3, ?4)";

    /// Records the result of the run that reserved the key `?2` in the namespace `?1` at the time `?3`. Changes no row
    /// if the key was released or reserved again.
    ///
    /// The parameters `?4` to `?9` are status, location, body, forum, thread and post of the response; all are null for an
    /// unknown outcome.
    pub const COMPLETE: &str = "
        UPDATE forum_api_idempotency_keys
        SET ended = TRUE, status = ?4, location = ?5, body = ?6, forum_id = ?7, thread_id = ?8, post_id = ?9
        WHERE namespace = ?1 AND key = ?2 AND began_at = ?3";

    /// Releases the key `?2` in the namespace `?1` that was reserved at the time `?3`.
    pub const RELEASE: &str = "
        DELETE FROM forum_api_idempotency_keys WHERE namespace = ?1 AND key = ?2 AND began_at = ?3";
}
