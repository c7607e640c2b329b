//! Texts of the errors of rusqlite, without statements and values.

use rusqlite::{Error, ErrorCode, ffi};

use super::ColumnError;

/// Beginnings of messages about a statement that have no values.
const INPUT_ERRORS: [&str; 3] = ["no such table: ", "no such column: ", "table "];

/// Returns the error as one sentence, without the SQL statement and without values. The sentence of a failed conversion
/// names only the column.
pub(crate) fn describe(error: &Error) -> String {
    match error {
        Error::SqliteFailure(failure, Some(message)) => {
            describe_failure(failure, message, &["no such table: "])
        }
        Error::SqlInputError { error, msg, .. } => describe_failure(error, msg, &INPUT_ERRORS),
        Error::FromSqlConversionFailure(index, kind, error) => match error.downcast_ref() {
            Some(error) => ColumnError::to_string(error),
            None => format!("a value of column {index} with the type {kind} is malformed"),
        },
        Error::IntegralValueOutOfRange(index, _) => {
            format!("an integer of column {index} is out of range")
        }
        Error::ToSqlConversionFailure(_) => "a parameter cannot be stored".into(),
        // These texts contain names and numbers of columns and parameters.
        Error::SqliteFailure(_, None)
        | Error::Utf8Error(..)
        | Error::InvalidPath(_)
        | Error::InvalidParameterName(_)
        | Error::InvalidParameterCount(..)
        | Error::InvalidColumnIndex(_)
        | Error::InvalidColumnName(_)
        | Error::InvalidColumnType(..)
        | Error::ExecuteReturnedResults
        | Error::QueryReturnedNoRows
        | Error::StatementChangedRows(_)
        | Error::InvalidQuery
        | Error::MultipleStatement => error.to_string(),
        _ => "the SQLite driver failed".into(),
    }
}

/// Returns the message of an error of SQLite if the message cannot quote values, and otherwise the text of the error's
/// code. Messages of the general code `SQLITE_ERROR` can quote values, for example queries of the full-text index:
/// `allowed` are the beginnings of those that cannot.
pub(crate) fn describe_failure(failure: &ffi::Error, message: &str, allowed: &[&str]) -> String {
    let has_no_values = match failure.code {
        // These messages name the constraint, or the table and the column. The message of a trigger can be any text.
        ErrorCode::ConstraintViolation => matches!(
            failure.extended_code,
            ffi::SQLITE_CONSTRAINT_CHECK
                | ffi::SQLITE_CONSTRAINT_DATATYPE
                | ffi::SQLITE_CONSTRAINT_FOREIGNKEY
                | ffi::SQLITE_CONSTRAINT_NOTNULL
                | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                | ffi::SQLITE_CONSTRAINT_ROWID
                | ffi::SQLITE_CONSTRAINT_UNIQUE
        ),
        // These messages are fixed, or name a table or a file.
        ErrorCode::AuthorizationForStatementDenied
        | ErrorCode::CannotOpen
        | ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseCorrupt
        | ErrorCode::DatabaseLocked
        | ErrorCode::DiskFull
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::NotADatabase
        | ErrorCode::OperationInterrupted
        | ErrorCode::OutOfMemory
        | ErrorCode::PermissionDenied
        | ErrorCode::ReadOnly
        | ErrorCode::SchemaChanged
        | ErrorCode::SystemIoFailure
        | ErrorCode::TooBig
        | ErrorCode::TypeMismatch => true,
        ErrorCode::Unknown => allowed.iter().any(|start| message.starts_with(start)),
        _ => false,
    };
    if has_no_values { message.into() } else { failure.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_names_and_numbers_only_are_kept() {
        for error in [
            Error::InvalidPath("forum.db".into()),
            Error::InvalidParameterName(":missing".into()),
            Error::InvalidParameterCount(1, 2),
            Error::InvalidColumnIndex(7),
            Error::InvalidColumnName("missing".into()),
            Error::ExecuteReturnedResults,
            Error::QueryReturnedNoRows,
            Error::StatementChangedRows(2),
            Error::InvalidQuery,
            Error::MultipleStatement,
        ] {
            assert_eq!(describe(&error), error.to_string());
        }
    }

    /// The codes of SQLite whose messages contain no values, and some of the others.
    #[test]
    fn only_messages_without_values_are_kept() {
        let kept = [
            ffi::SQLITE_AUTH,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_FULL,
            ffi::SQLITE_INTERRUPT,
            ffi::SQLITE_IOERR,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_MISMATCH,
            ffi::SQLITE_NOMEM,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_PERM,
            ffi::SQLITE_PROTOCOL,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_SCHEMA,
            ffi::SQLITE_TOOBIG,
            ffi::SQLITE_CONSTRAINT_CHECK,
            ffi::SQLITE_CONSTRAINT_DATATYPE,
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY,
            ffi::SQLITE_CONSTRAINT_NOTNULL,
            ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
            ffi::SQLITE_CONSTRAINT_ROWID,
            ffi::SQLITE_CONSTRAINT_UNIQUE,
        ];
        let replaced = [ffi::SQLITE_ERROR, ffi::SQLITE_MISUSE, ffi::SQLITE_CONSTRAINT_TRIGGER];
        let kept = kept.map(|code| (code, true)).into_iter();
        for (code, is_kept) in kept.chain(replaced.map(|code| (code, false))) {
            let error = Error::SqliteFailure(ffi::Error::new(code), Some("Samovarium".into()));
            assert_eq!(describe(&error) == "Samovarium", is_kept, "{code}: {error}");
        }
        for (message, is_kept) in
            [("no such table: post", true), ("no such column: body", false), ("table post", false)]
        {
            let failure = ffi::Error::new(ffi::SQLITE_ERROR);
            let error = Error::SqliteFailure(failure, Some(message.into()));
            assert_eq!(describe(&error) == message, is_kept, "{message}");
        }
    }
}
