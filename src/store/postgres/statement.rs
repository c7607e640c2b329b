//! A statement of SQL that any driver can run.

use std::fmt;

use crate::model::Timestamp;

/// A statement, and what is bound to it. A host runs it with whatever driver it has.
///
/// It prints without what is bound.
#[derive(Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text, the same for every call, so that it can be prepared once.
    pub sql: &'static str,
    /// What is bound to `$1`, `$2` and so on: texts, whatever the columns are.
    pub parameters: Vec<String>,
}

impl Statement {
    pub(super) fn new(sql: &'static str, parameters: impl Into<Vec<String>>) -> Self {
        Self {
            sql,
            parameters: parameters.into(),
        }
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement")
            .field("sql", &self.sql)
            .finish_non_exhaustive()
    }
}

/// Functions that give a statement each, with its text in their documentation.
macro_rules! statements {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($($argument:ident: $type:ty),*) binds [$($parameter:expr),+ $(,)?] to $sql:expr;
    )+) => {$(
        $(#[doc = $doc])+
        ///
        /// ```sql
        #[doc = $sql]
        /// ```
        pub fn $name($($argument: $type),*) -> Statement {
            Statement::new($sql, [$($parameter.to_string()),+])
        }
    )+};
}

pub(super) use statements;

/// A time that may be missing, as a parameter: empty where it is.
pub(super) fn millis_if_any(time: Option<Timestamp>) -> String {
    time.map(|time| time.as_millis().to_string())
        .unwrap_or_default()
}

/// A time as a column; `None` for what is none.
pub(super) fn time(column: &str) -> Option<Timestamp> {
    column.parse().ok().map(Timestamp::from_millis)
}

/// A time that may be missing, as a column; `None` for what is neither.
pub(super) fn time_if_any(column: &str) -> Option<Option<Timestamp>> {
    match column {
        "" => Some(None),
        column => time(column).map(Some),
    }
}
