//! Statements that write an entry of the audit log with a change.

use super::Parameter;
use crate::audit::AuditEntry;

/// Returns a statement that runs `change` and writes an entry if it changes at least one row. Its row has the column
/// `count`. Its parameters are the `others` parameters of `change`, and then [`entry_values`].
pub(super) fn audited_statement(change: &str, others: usize) -> String {
    let insert = insert_statement(others, "count(*) FROM changed HAVING count(*) > 0");
    format!(
        "WITH changed AS (
{change}
RETURNING 1
), audited AS (
{insert}
)
SELECT count(*) FROM changed"
    )
}

/// Returns a statement that adds an entry. If an entry with the same id is stored, the statement adds the number of
/// records to its count instead. Its parameters are `others` other parameters, and then [`entry_values`].
/// `count` is the SQL expression for the number of records, followed by the clauses of its query, if any.
pub(super) fn insert_statement(others: usize, count: &str) -> String {
    let values = format!("(${}::TEXT[])", others + 1);
    format!(
        "INSERT INTO forum_api_audit_log AS entry
    (id, occurred_at, actor, os_user, origin, address, action, target, details, count)
SELECT {values}[1], {values}[2]::BIGINT, NULLIF({values}[3], ''), NULLIF({values}[4], ''), {values}[5],
    NULLIF({values}[6], ''), {values}[7], {values}[8], {values}[9], {count}
ON CONFLICT (id) DO UPDATE SET count = entry.count + excluded.count"
    )
}

/// Returns the last parameter of [`insert_statement`], which has no parameter for the number of records.
pub(super) fn entry_values(entry: &AuditEntry) -> Parameter {
    let [values @ .., _] = entry.to_texts(0);
    Parameter::texts(values)
}
