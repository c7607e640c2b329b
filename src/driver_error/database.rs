//! Errors that Postgres reports.

/// Error that Postgres reported, with those of its fields that contain names. `Display` and `Debug` return one sentence
/// without the values of parameters and rows: the message if messages with this code contain none, and otherwise the
/// code and the names.
///
/// A host with another driver can use it for its own errors: it logs the text of a [`DatabaseError`] and not that of
/// the driver's error, which can quote content.
///
/// ```
/// use forum_api::store::postgres::DatabaseError;
///
/// let error = DatabaseError::new("23505", "duplicate key value violates unique constraint \"post_pkey\"");
/// assert_eq!(
///     error.to_string(),
///     "duplicate key value violates unique constraint \"post_pkey\" (23505)"
/// );
/// let mut error = DatabaseError::new("22P02", "invalid input syntax for type integer: \"secret\"");
/// error.table = Some("post".into());
/// assert_eq!(error.to_string(), "Postgres error 22P02, table post");
/// ```
#[derive(Clone, thiserror::Error)]
#[error("{}", self.describe())]
#[non_exhaustive]
pub struct DatabaseError {
    /// SQLSTATE code of five characters.
    pub code: String,
    /// Message. It can contain values.
    pub message: String,
    /// `true` if Postgres closed the connection with the error (severity `FATAL` or `PANIC`), so that the outcome of the
    /// statement is unknown. Default: `false`.
    pub is_fatal: bool,
    /// Name of the table. Default: `None`.
    pub table: Option<String>,
    /// Name of the column. Default: `None`.
    pub column: Option<String>,
    /// Name of the constraint. Default: `None`.
    pub constraint: Option<String>,
    /// Name of the routine of Postgres that raised the error. Default: `None`.
    pub routine: Option<String>,
}

/// SQLSTATE codes and classes of failures after which the same statement, or the transaction that it belongs to, can succeed.
const TEMPORARY: [&str; 11] = [
    "08",    // connection
    "57",    // timeout of a statement, shutdown
    "0A000", // a statement that was prepared before the type of a column changed
    "25006", // a server that accepts no writes
    "25P03", // timeout of the wait for the next statement of a transaction
    "40001", // serialization failure
    "40P01", // deadlock
    "53100", // full disk
    "53200", // memory
    "53300", // too many connections
    "55P03", // timeout of a lock
];

/// Codes and classes of errors of Postgres whose messages contain no values of rows and parameters. They can contain
/// names of tables, columns, constraints, files, users, databases and statements.
const WITHOUT_VALUES: [&str; 20] = [
    "08",    // connection
    "23",    // constraint: the row is in the detail
    "25",    // state of the transaction, such as read-only
    "26",    // name of a prepared statement
    "28",    // password or user
    "3D",    // name of a database
    "3F",    // name of a schema
    "40",    // deadlock or serialization failure
    "53",    // full disk, memory, connections
    "57",    // timeout, shutdown
    "58",    // files of the server
    "42501", // permission
    "42703", // name of a column
    "42883", // name of a function and types
    "42P01", // name of a table
    "42P05", // name of a prepared statement
    "55006", // object in use
    "55P03", // lock timeout
    "XX001", // corrupt page of a file
    "XX002", // corrupt index
];

/// Routine of Postgres that raises the errors of functions in PL/pgSQL. All their fields can contain values.
const RAISE: &str = "exec_stmt_raise";

impl DatabaseError {
    /// Creates an error with its SQLSTATE code and its message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            is_fatal: false,
            table: None,
            column: None,
            constraint: None,
            routine: None,
        }
    }

    /// Returns `true` if further statements would fail on the connection, although Postgres did not close it: the server
    /// accepts no writes (25006) or is shutting down (class 57P), or the type of a column changed after the statement was
    /// prepared (0A000). A [`PostgresDriver`](crate::store::postgres::PostgresDriver) closes the connection.
    #[must_use]
    pub fn needs_new_connection(&self) -> bool {
        let Self { code, .. } = self;
        code.starts_with("57P") || code == "25006" || code == "0A000"
    }

    /// Returns whether the same statement, or its transaction, can succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        TEMPORARY.iter().any(|class| self.code.starts_with(class))
    }

    fn describe(&self) -> String {
        let Self { code, message, table, column, constraint, routine, .. } = self;
        let is_raised = routine.as_deref() == Some(RAISE);
        if !is_raised && WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
            return format!("{message} ({code})");
        }
        let names = [("table", table), ("column", column), ("constraint", constraint)];
        let named = names.into_iter().filter(|_| !is_raised);
        let parts = named
            .chain([("routine", routine)])
            .filter_map(|(object, name)| name.as_ref().map(|name| format!(", {object} {name}")));
        format!("Postgres error {code}{}", parts.collect::<String>())
    }
}

display_debug!(DatabaseError);

#[cfg(test)]
mod tests {
    use super::*;

    /// A host can log an error with `{:?}`.
    #[test]
    fn the_debug_output_has_no_values() {
        let mut error = DatabaseError::new("22P02", "invalid input: \"Samovarium\"");
        error.table = Some("post".into());
        assert_eq!(format!("{error:?}"), "DatabaseError(Postgres error 22P02, table post)");
    }

    #[test]
    fn the_names_of_a_raised_error_are_not_in_the_text() {
        let mut error = DatabaseError::new("22P02", "Samovarium");
        error.table = Some("post".into());
        error.column = Some("body".into());
        error.constraint = Some("post_check".into());
        error.routine = Some("pg_strtoint64_safe".into());
        let names = "table post, column body, constraint post_check, routine pg_strtoint64_safe";
        assert_eq!(error.to_string(), format!("Postgres error 22P02, {names}"));
        error.code = "23514".into();
        assert_eq!(error.to_string(), "Samovarium (23514)");
        error.routine = Some("exec_stmt_raise".into());
        assert_eq!(error.to_string(), "Postgres error 23514, routine exec_stmt_raise");
    }

    #[test]
    fn some_errors_need_a_new_connection_and_some_are_temporary() {
        for (code, needs_new_connection, is_temporary) in [
            ("08006", false, true),
            ("0A000", true, true),
            ("25006", true, true),
            ("25P02", false, false),
            ("25P03", false, true),
            ("40001", false, true),
            ("40003", false, false),
            ("40P01", false, true),
            ("53100", false, true),
            ("53200", false, true),
            ("53300", false, true),
            ("53400", false, false),
            ("55P03", false, true),
            ("55006", false, false),
            ("57014", false, true),
            ("57P01", true, true),
            ("57P03", true, true),
        ] {
            let error = DatabaseError::new(code, "");
            let outcome = (error.needs_new_connection(), error.is_temporary());
            assert_eq!(outcome, (needs_new_connection, is_temporary), "{code}");
        }
    }

    #[test]
    fn only_messages_without_values_are_in_the_text() {
        let without_values = "08006 23502 25006 26000 28P01 3D000 3F000 40P01 53100 57014 58030 \
                              42501 42703 42883 42P01 42P05 55006 55P03 XX001 XX002";
        let with_values = "21000 22001 22P02 42601 42804 P0001 XX000";
        for (codes, is_shown) in [(without_values, true), (with_values, false)] {
            for code in codes.split(' ') {
                let text = DatabaseError::new(code, "Samovarium").to_string();
                assert_eq!(text.contains("Samovarium"), is_shown, "{text}");
            }
        }
    }
}
