//! Statements that write an entry of the audit log with a change.

use tokio_postgres::types::ToSql;

use crate::audit::AuditEntry;

/// Returns a statement that runs `change` and writes an entry if it changes at least one row. Its row has the column
/// `count`. Its parameters are the `others` of `change`, followed by [`entry_values`].
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
    (id, occurred_at, actor, os_user, origin, address, action, target, details, count)
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
    parameters: &[&'a (dyn ToSql + Sync)],
    values: &'a [String],
) -> Vec<&'a (dyn ToSql + Sync)> {
    let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
    parameters.iter().copied().chain(values).collect()
}
