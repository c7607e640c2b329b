//! A statement of SQL that any driver can run.

use std::fmt;

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

/// What is bound: values, each as a text, or `(texts)` that are made elsewhere.
macro_rules! bound {
    ([$($value:expr),* $(,)?]) => { [$($value.to_string()),*] };
    (($texts:expr)) => { $texts };
}

/// Functions that give a statement each, with its text in their documentation.
macro_rules! statements {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($($argument:ident: $type:ty),*) binds $parameters:tt to $sql:expr;
    )+) => {$(
        $(#[doc = $doc])+
        ///
        /// ```sql
        #[doc = $sql]
        /// ```
        pub fn $name($($argument: $type),*) -> Statement {
            Statement::new($sql, $crate::store::postgres::statement::bound!($parameters))
        }
    )+};
}

pub(super) use {bound, statements};
