//! Audit store.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::execute::{Conditions, Parameters, Result};
use super::rows::read_audit_record;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::store::{AuditFilter, AuditRecord, AuditStore};

#[async_trait]
impl AuditStore for PostgresStore {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        let values = entry.insert_parameters(1);
        let parameters = with_entry(&[], &values);
        self.execute(AuditEntry::INSERT_SQL, &parameters).await?;
        Ok(())
    }

    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let limit = i64::from(filter.limit);
        let mut conditions = Conditions::new(vec![&limit]);
        conditions.and("number <", filter.after.as_ref());
        conditions.and("actor =", filter.actor.as_ref());
        conditions.and("action =", filter.action.as_ref());
        conditions.and("target =", filter.target.as_ref());
        let Conditions { sql, parameters } = conditions;
        let sql = format!(
            "SELECT id, occurred_at, actor, system_user, origin, address, action, target, details, number, count
FROM forum_api_audit_log WHERE TRUE{sql} ORDER BY number DESC LIMIT $1"
        );
        Ok(self
            .readable("audit_log", &sql, &parameters, read_audit_record)
            .await?)
    }
}

impl PostgresStore {
    /// Runs a statement that changes rows, and writes `audit` in the same statement if it changes at least one row.
    /// Returns the number of changed rows.
    ///
    /// `change` is one `INSERT`, `UPDATE` or `DELETE`, without a `RETURNING` clause.
    pub(super) async fn execute_audited(
        &self,
        change: &str,
        parameters: Parameters<'_>,
        audit: &AuditEntry,
    ) -> Result<u64> {
        let insert = insert_statement(
            parameters.len(),
            "count(*) FROM changed HAVING count(*) > 0",
        );
        let sql = format!(
            "WITH changed AS (
{change}
RETURNING 1
), audited AS (
{insert}
)
SELECT count(*) FROM changed"
        );
        let values = entry_values(audit);
        let parameters = with_entry(parameters, &values);
        let count = self
            .first(&sql, &parameters, |columns| columns.number("count"))
            .await?;
        Ok(count.unwrap_or_default())
    }
}

/// Returns a statement that adds an entry. If an entry with the same id is stored, the statement adds the number of
/// records to its count instead. The parameters are `others` other parameters, followed by [`entry_values`]. `count` is
/// the SQL expression for the number of records, followed by the clauses of its query, if any.
pub(super) fn insert_statement(others: usize, count: &str) -> String {
    let [
        id,
        at,
        actor,
        user,
        origin,
        address,
        action,
        target,
        details,
    ] = std::array::from_fn(|index| others + index + 1);
    format!(
        "INSERT INTO forum_api_audit_log AS entry
    (id, occurred_at, actor, system_user, origin, address, action, target, details, count)
SELECT ${id}::TEXT, ${at}::TEXT::BIGINT, NULLIF(${actor}::TEXT, ''), NULLIF(${user}::TEXT, ''), ${origin}::TEXT,
    NULLIF(${address}::TEXT, ''), ${action}::TEXT, ${target}::TEXT, ${details}::TEXT, {count}
ON CONFLICT (id) DO UPDATE SET count = entry.count + excluded.count"
    )
}

/// Returns the parameters of [`insert_statement`], which has no parameter for the number of records.
pub(super) fn entry_values(entry: &AuditEntry) -> [String; 9] {
    let [values @ .., _] = entry.insert_parameters(0);
    values
}

/// Appends the values of an entry to the parameters of a statement.
pub(super) fn with_entry<'a>(
    parameters: Parameters<'a>,
    values: &'a [String],
) -> Vec<&'a (dyn ToSql + Sync)> {
    let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
    parameters.iter().copied().chain(values).collect()
}
