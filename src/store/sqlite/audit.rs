//! Audit store.

use async_trait::async_trait;
use rusqlite::{Connection, Params, Result, ToSql, params_from_iter};

use super::execute::{change, readable};
use super::rows::read_audit_record;
use super::{Database, SqliteError};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::store::{AuditFilter, AuditRecord, AuditStore};

/// The audit log in the table `forum_api_audit_log`.
#[derive(Clone, Debug)]
pub struct SqliteAuditStore(Database);

impl SqliteAuditStore {
    /// Creates a store in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl AuditStore for SqliteAuditStore {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        let entry = entry.clone();
        let insert = self
            .0
            .write::<_, SqliteError>(move |savepoint| Ok(record(savepoint, &entry, 1)?));
        Ok(insert.await?)
    }

    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let filter = filter.clone();
        let list = self.0.read::<_, SqliteError>(move |connection| {
            let sql = list_statement(&filter);
            let mut parameters: Vec<&dyn ToSql> = vec![&filter.limit];
            parameters.extend(filter.after.iter().map(|one| one as &dyn ToSql));
            parameters.extend(filter.actor.iter().map(|one| one as &dyn ToSql));
            parameters.extend(filter.action.iter().map(|one| one as &dyn ToSql));
            parameters.extend(filter.target.iter().map(|one| one as &dyn ToSql));
            Ok(readable(
                connection,
                "audit_log",
                &sql,
                &*parameters,
                read_audit_record,
            )?)
        });
        Ok(list.await?)
    }
}

/// Returns the statement of a list. Its parameters are the limit and the values of the filter that are set, in this
/// order: position, actor, action, target.
pub(super) fn list_statement(filter: &AuditFilter) -> String {
    let mut sql = "SELECT * FROM forum_api_audit_log WHERE TRUE".to_owned();
    let conditions = [
        (filter.after.is_some(), " AND number < ?"),
        (filter.actor.is_some(), " AND actor = ?"),
        (filter.action.is_some(), " AND action = ?"),
        (filter.target.is_some(), " AND target = ?"),
    ];
    let set = conditions.into_iter().filter(|(is_set, _)| *is_set);
    for (number, (_, condition)) in (2..).zip(set) {
        sql += &format!("{condition}{number}");
    }
    sql + " ORDER BY number DESC LIMIT ?1"
}

/// Runs a statement that changes rows, and writes `audit` if the statement changes at least one row. Returns the number
/// of changed rows.
pub(super) fn change_audited(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    audit: &AuditEntry,
) -> Result<u64> {
    let count = change(connection, sql, params)? as u64;
    record(connection, audit, count)?;
    Ok(count)
}

/// Writes the entry of a change of `count` records; nothing for 0.
pub(super) fn record(connection: &Connection, entry: &AuditEntry, count: u64) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let parameters = params_from_iter(entry.insert_parameters(count));
    change(connection, AuditEntry::INSERT_SQL, parameters).map(drop)
}
