//! The last changes of a transaction.

use super::named_params::Bound;

/// A change that is written with the commit of its transaction.
#[derive(Debug)]
pub enum LastChange<'a> {
    /// Statements that [`Transaction::execute_independent`](super::Transaction::execute_independent) runs, and their parameters.
    Statements(&'a [&'static str], &'a [Bound<'a>]),
    /// A statement that [`Transaction::execute_texts`](super::Transaction::execute_texts) runs, and its parameters.
    Texts(&'static str, Vec<String>),
}
