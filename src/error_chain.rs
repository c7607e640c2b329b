//! Text of an error with its sources, for the log.

use std::error::Error;
use std::fmt;

use crate::model::is_printable;

/// Length in bytes at which a text is cut.
const MAX_LENGTH: usize = 2_000;

/// Displays an error and its sources, separated by colons, for the log. Cuts a long text.
///
/// Omits a source whose text is contained in the text of an outer error. Replaces the text of an error of a database
/// driver by a sentence without values, as [`IntoBackendError`](crate::error::IntoBackendError) does, also inside the
/// text of an outer error. Escapes characters that are not [printable](is_printable): a host's error can contain text
/// of a member, which must not add a line to the log or reverse its letters.
pub(crate) struct ErrorChain<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut outer: Vec<String> = Vec::new();
        let mut next = Some(self.0);
        while let Some(error) = next {
            let driver_text = error.to_string();
            if let Some(sentence) = driver_sentence(error) {
                if !driver_text.is_empty() {
                    for text in &mut outer {
                        *text = text.replace(&driver_text, &sentence);
                    }
                }
                outer.push(sentence);
                break;
            }
            outer.push(driver_text);
            next = error.source();
        }
        let mut text = String::new();
        for sentence in outer {
            if !text.contains(&sentence) {
                let separator = if text.is_empty() { "" } else { ": " };
                text = format!("{text}{separator}{sentence}");
            }
        }
        let mut line = String::new();
        for letter in text.chars() {
            if line.len() >= MAX_LENGTH {
                line.push('…');
                break;
            }
            if is_printable(letter) {
                line.push(letter);
            } else {
                line.extend(letter.escape_default());
            }
        }
        f.write_str(&line)
    }
}

/// Returns a sentence without values for an error of a database driver, or for a wrapper that shows the text of such an
/// error as its own (`#[error(transparent)]`); `None` for other errors.
fn driver_sentence(error: &(dyn Error + 'static)) -> Option<String> {
    #[cfg(feature = "tokio-postgres-0_7")]
    {
        use crate::driver_error::tokio_postgres::{describe, describe_reported};
        let driver_error = error.downcast_ref().map(describe);
        if let Some(sentence) = driver_error.or_else(|| error.downcast_ref().map(describe_reported))
        {
            return Some(sentence);
        }
    }
    #[cfg(feature = "sqlite")]
    {
        use crate::driver_error::sqlite::{describe, describe_failure};
        if let Some(error) = error.downcast_ref() {
            return Some(describe(error));
        }
        if let Some(failure) = error.source().and_then(|source| source.downcast_ref()) {
            return Some(describe_failure(failure, &error.to_string(), &[]));
        }
    }
    let _ = error;
    None
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::ErrorChain;
    use crate::error::{BackendError, BoxError};

    #[derive(Debug, Error)]
    #[error("failed to load the thread")]
    struct Context(#[source] BoxError);

    #[derive(Debug, Error)]
    #[error("query failed: {0}")]
    struct Repeating(#[source] BoxError);

    #[derive(Debug, Error)]
    #[error(transparent)]
    struct Transparent<E>(E);

    /// Returns an error of a driver in each wrapper.
    #[cfg(any(feature = "sqlite", feature = "tokio-postgres-0_7"))]
    fn wrapped<E>(errors: [E; 5]) -> [BackendError; 5]
    where
        E: crate::error::IntoBackendError + std::error::Error + Send + Sync + 'static,
    {
        let [first, second, third, fourth, fifth] = errors;
        [
            BackendError::new(first),
            BackendError::new(Context(second.into())),
            BackendError::new(Repeating(third.into())),
            BackendError::new(Transparent(fourth)),
            fifth.into(),
        ]
    }

    #[test]
    fn a_chain_shows_each_cause_once() {
        for (error, text) in [
            (BackendError::new("disk full"), "disk full"),
            (
                BackendError::new(Context("disk full".into())),
                "failed to load the thread: disk full",
            ),
            (
                BackendError::new(Context(Repeating("disk full".into()).into())),
                "failed to load the thread: query failed: disk full",
            ),
            (BackendError::new(Transparent(BackendError::new("disk full"))), "disk full"),
            (
                BackendError::new("\"ü\u{1b}[2J\r\n\u{85}\u{202e}INFO\" is too long"),
                "\"ü\\u{1b}[2J\\r\\n\\u{85}\\u{202e}INFO\" is too long",
            ),
        ] {
            assert_eq!(ErrorChain(&error).to_string(), text);
        }
    }

    #[test]
    fn a_long_chain_is_cut() {
        for (letter, shown, count) in [("\u{1f375}", "\u{1f375}", 500), ("\u{85}", "\\u{85}", 334)]
        {
            let error = BackendError::new(letter.repeat(5_000));
            let text = ErrorChain(&error).to_string();
            assert_eq!(text, format!("{}…", shown.repeat(count)));
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_chain_shows_no_values_of_sqlite() {
        const MARK: &str = "Samovarium";
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let tables = "
            CREATE TABLE post (id INTEGER PRIMARY KEY, body TEXT UNIQUE CHECK (body <> 'empty')) STRICT;
            CREATE TRIGGER refuse BEFORE DELETE ON post BEGIN SELECT RAISE(ABORT, 'Samovarium'); END;
            CREATE VIRTUAL TABLE words USING fts5 (body);
            INSERT INTO post VALUES (1, 'Samovarium')";
        connection.execute_batch(tables).unwrap();
        let read = |sql: &str| connection.query_row(sql, [MARK], |row| row.get::<_, u8>(0));
        for (sql, expected) in [
            ("SELECT 'Samovarium' FROM missing WHERE ?1", "no such table: missing"),
            ("SELECT 'Samovarium', missing FROM post WHERE ?1", "no such column: missing"),
            ("SELECT 'Samovarium' FROM FROM ?1", "Error code 1: "),
            ("INSERT INTO post (body) VALUES (?1)", "UNIQUE constraint failed: post.body"),
            ("INSERT INTO post (id) VALUES (?1)", "datatype mismatch"),
            (
                "INSERT INTO post (body) VALUES (substr('empty' || ?1, 1, 5))",
                "CHECK constraint failed: body <> 'empty'",
            ),
            ("DELETE FROM post WHERE body = ?1", "Error code 1811: "),
            ("SELECT 1 FROM words WHERE words MATCH ?1 || ':x'", "Error code 1: "),
            ("SELECT json_extract('{}', ?1)", "Error code 1: "),
            ("SELECT ?1", "Invalid column type Text at index: 0, name: ?1"),
            ("SELECT length(?1) * 1000", "an integer of column 0 is out of range"),
        ] {
            for error in wrapped([(); 5].map(|()| read(sql).unwrap_err())) {
                let text = ErrorChain(&error).to_string();
                assert!(!text.contains(MARK), "{text}");
            }
            let error = BackendError::from(read(sql).unwrap_err());
            let text = ErrorChain(&error).to_string();
            assert!(text.starts_with(expected), "{sql}: {text}");
            let debug = format!("BackendError(SqliteError({text}))");
            assert_eq!(format!("{error:?}"), debug);
        }
    }

    /// Responds to a connection with an error of this code, routine and message, as Postgres does.
    #[cfg(feature = "tokio-postgres-0_7")]
    async fn postgres_error(code: &str, routine: &str, message: &str) -> tokio_postgres::Error {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let fields = format!(
            "SERROR\0VERROR\0C{code}\0M{message}\0Ddetail {message}\0tposts\0cbody\0nposts_check\0R{routine}\0\0"
        );
        let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
        let response = [b"E", &length[..], fields.as_bytes()].concat();
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let respond = async {
            let (mut stream, _) = server.accept().await.unwrap();
            assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
            stream.write_all(&response).await.unwrap();
        };
        let url = format!("postgres://forum@127.0.0.1:{port}/forum");
        let connect = tokio_postgres::connect(&url, tokio_postgres::NoTls);
        let (connected, ()) = tokio::join!(connect, respond);
        connected.err().unwrap()
    }

    #[cfg(feature = "tokio-postgres-0_7")]
    #[tokio::test]
    async fn a_chain_shows_no_values_of_postgres() {
        for (code, routine, message, expected) in [
            ("23505", "_bt_check_unique", "violates \"key\"", "violates \"key\" (23505)"),
            ("53100", "mdextend", "No space left", "No space left (53100)"),
            ("42P01", "parserOpenTable", "no \"t\"", "no \"t\" (42P01)"),
            ("28P01", "auth_failed", "for user \"u\"", "for user \"u\" (28P01)"),
            (
                "22P02",
                "pg_strtoint64_safe",
                "invalid: \"Samovarium\"",
                "Postgres error 22P02, table posts, column body, constraint posts_check, routine pg_strtoint64_safe",
            ),
            (
                "53100",
                "exec_stmt_raise",
                "Samovarium",
                "Postgres error 53100, routine exec_stmt_raise",
            ),
        ] {
            let mut errors = Vec::new();
            for _ in 0..5 {
                errors.push(postgres_error(code, routine, message).await);
            }
            let errors = wrapped(errors.try_into().unwrap());
            for error in &errors {
                let text = ErrorChain(error).to_string();
                assert!(text.ends_with(expected), "{text}");
                assert!(!text.contains("Samovarium"), "{text}");
            }
            let debug = format!("BackendError(PostgresError({}))", ErrorChain(&errors[4]));
            assert_eq!(format!("{:?}", errors[4]), debug);
        }
    }
}
