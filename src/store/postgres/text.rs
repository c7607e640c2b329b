//! How values are texts, as parameters and as columns.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

use crate::model::Timestamp;

/// A time that may be missing, as a parameter: empty where it is.
pub(super) fn millis_if_any(time: Option<Timestamp>) -> String {
    time.map(|time| time.as_millis().to_string())
        .unwrap_or_default()
}

/// A time as a column; `None` for what is none.
pub(super) fn time(column: &str) -> Option<Timestamp> {
    column.parse().ok().map(Timestamp::from_millis)
}

/// What `read` makes of a column that may be empty; `None` for what is neither.
pub(super) fn if_any<T>(column: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match column {
        "" => Some(None),
        column => read(column).map(Some),
    }
}

/// Bytes as a parameter.
pub(super) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Bytes as a column, which Postgres breaks into lines; `None` for what is none.
pub(super) fn bytes(column: &str) -> Option<Vec<u8>> {
    let lines: String = column.lines().collect();
    BASE64_STANDARD.decode(lines).ok()
}

/// Ids, or numbers, as a parameter: none of them holds a comma.
pub(super) fn joined<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    texts.join(",")
}

/// Rows as a parameter: a JSON array.
pub(super) fn json<T: Serialize>(rows: impl IntoIterator<Item = T>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    serde_json::to_string(&rows).unwrap_or_default()
}

/// A truth as a column; `None` for what is none.
pub(super) fn truth(column: &str) -> Option<bool> {
    column.parse().ok()
}
