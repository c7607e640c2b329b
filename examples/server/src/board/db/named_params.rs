//! Parameters of statements, and their translation to the numbered parameters of Postgres.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use forum_api::host::{BackendError, BackendResult};
use serde::Serialize;
use tokio_postgres::types;

/// A value that both databases accept as a parameter.
pub trait Param: rusqlite::ToSql + types::ToSql + Sync {}

impl<T: rusqlite::ToSql + types::ToSql + Sync> Param for T {}

/// The name and the value of a parameter.
pub type Bound<'a> = (&'a str, &'a (dyn Param + Sync));

/// The parameters of a statement: by name, as in `bind! { ":thread": thread }`, or in the order of `?1`, `?2` and so on,
/// as in `bind![thread, post]`.
#[macro_export]
macro_rules! bind {
    ($($name:literal: $value:expr),* $(,)?) => {
        &[$(($name, &$value as &(dyn $crate::board::db::Param + Sync))),*]
    };
    ($first:expr $(,)?) => {
        $crate::bind! { "?1": $first }
    };
    ($first:expr, $second:expr $(,)?) => {
        $crate::bind! { "?1": $first, "?2": $second }
    };
    ($first:expr, $second:expr, $third:expr $(,)?) => {
        $crate::bind! { "?1": $first, "?2": $second, "?3": $third }
    };
}

pub use bind;

/// Formats a list as JSON.
pub fn json<T: Serialize>(list: &[T]) -> BackendResult<String> {
    serde_json::to_string(list).map_err(|_| BackendError::new("a list cannot be written as JSON"))
}

pub(super) fn mismatch() -> BackendError {
    BackendError::new("the parameters do not match the statement")
}

/// A statement for Postgres.
#[derive(Debug)]
pub struct NamedParams {
    pub sql: String,
    /// The names of `$1`, `$2` and so on, with their first character.
    pub names: Vec<String>,
}

/// Translates a statement once. Several statements become one, which runs all of them.
pub fn named_params(statements: &[&'static str]) -> Arc<NamedParams> {
    static CACHE: LazyLock<RwLock<HashMap<Vec<&'static str>, Arc<NamedParams>>>> =
        LazyLock::new(RwLock::default);
    let known = CACHE.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(statements) {
        return known.clone();
    }
    drop(known);
    let mut known = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    known.entry(statements.to_vec()).or_insert_with(|| parse(&join(statements)).into()).clone()
}

/// Joins statements that return no rows into one. Postgres runs each part of a `WITH` that changes rows.
fn join(statements: &[&str]) -> String {
    let [others @ .., last] = statements else {
        return String::new();
    };
    let named: Vec<_> = others
        .iter()
        .enumerate()
        .map(|(number, statement)| format!("change_{number} AS ({statement})"))
        .collect();
    if named.is_empty() { (*last).to_owned() } else { format!("WITH {} {last}", named.join(", ")) }
}

/// A parameter is `:` or `?` and a name, outside of a quoted text. `::` is a cast.
fn parse(text: &str) -> NamedParams {
    let mut sql = String::with_capacity(text.len());
    let mut names = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    let mut quoted = false;
    while let Some(letter) = rest.chars().next() {
        let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let length = after.find(is_end).unwrap_or(after.len());
        quoted ^= letter == '\'';
        if matches!(letter, ':' | '?') && length > 0 && before != ':' && !quoted {
            let (name, after) = rest.split_at(1 + length);
            let number = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            sql.push_str(&format!("${}", number + 1));
            rest = after;
        } else {
            sql.push(letter);
            rest = after;
        }
        before = letter;
    }
    NamedParams { sql, names }
}

#[cfg(test)]
mod tests {
    use super::{join, parse};

    #[test]
    fn statements_are_joined_into_one() {
        for (statements, joined) in
            [(&["A"][..], "A"), (&["A", "B", "C"], "WITH change_0 AS (A), change_1 AS (B) C")]
        {
            assert_eq!(join(statements), joined);
        }
    }

    #[test]
    fn each_parameter_has_one_number() {
        for (text, sql, names) in [
            ("SELECT 1", "SELECT 1", vec![]),
            ("a = :a AND b = :b OR :a", "a = $1 AND b = $2 OR $1", vec![":a", ":b"]),
            ("?2 + ?1 + ?2", "$1 + $2 + $1", vec!["?2", "?1"]),
            ("':no', :yes::TEXT, '?1' || ','", "':no', $1::TEXT, '?1' || ','", vec![":yes"]),
            ("x ? 'k' : y", "x ? 'k' : y", vec![]),
        ] {
            let parsed = parse(text);
            assert_eq!(parsed.sql, sql);
            assert_eq!(parsed.names, names);
        }
    }
}
