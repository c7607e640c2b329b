//! Text of an error with its sources, for the log.

use std::fmt::{self, Write as _};

/// Displays an error and its sources, separated by colons, for the log.
///
/// Omits a source whose text is contained in the text of an outer error. For an error of a database driver, shows the
/// sentence without the values of the statement, as [`IntoBackendError`](crate::error::IntoBackendError) does. Escapes
/// control characters: a host's error can contain text that a member wrote, and this text must not be able to add a
/// line to the log.
pub(crate) struct ErrorChain<'a>(pub(crate) &'a (dyn std::error::Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut next = Some(self.0);
        while let Some(error) = next {
            let driver_sentence = driver_sentence(error);
            next = match driver_sentence {
                Some(_) => None,
                None => error.source(),
            };
            let sentence = driver_sentence.unwrap_or_else(|| error.to_string());
            if !text.contains(&sentence) {
                let separator = if text.is_empty() { "" } else { ": " };
                text = format!("{text}{separator}{sentence}");
            }
        }
        text.chars().try_for_each(|letter| {
            if letter.is_control() {
                write!(f, "{}", letter.escape_default())
            } else {
                f.write_char(letter)
            }
        })
    }
}

/// Returns a sentence without values for an error of a database driver; `None` for other errors. The driver's own text
/// or its sources contain values of the statement.
fn driver_sentence(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.downcast_ref() {
        return Some(crate::store::postgres::describe_error(error));
    }
    #[cfg(feature = "sqlite")]
    if let Some(error) = error.downcast_ref() {
        return Some(crate::store::sqlite::describe_error(error));
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
    struct TransparentBackend(BackendError);

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
            (
                BackendError::new(TransparentBackend(BackendError::new("disk full"))),
                "disk full",
            ),
            (
                BackendError::new("\"ü\u{1b}[2J\r\n\u{85}INFO\" is too long"),
                "\"ü\\u{1b}[2J\\r\\n\\u{85}INFO\" is too long",
            ),
        ] {
            assert_eq!(ErrorChain(&error).to_string(), text);
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_chain_shows_no_statement_of_a_driver() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let failed = connection.execute("SELECT 'secret' FROM missing", []);
        let error = BackendError::new(Context(failed.unwrap_err().into()));
        let text = ErrorChain(&error).to_string();
        assert!(text.ends_with(": no such table: missing"), "{text}");
    }
}
