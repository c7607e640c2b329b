//! The statements that the transactions of each kind of change run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of known statements of a kind of change. Further ones are prepared in the transaction.
const MAX_STATEMENTS: usize = 64;

/// The statements that earlier transactions of each kind of change have run. A connection prepares them before the
/// transaction begins: preparing one inside of it takes a round trip, during which the transaction holds its locks.
///
/// The kind is the name of the change's type. Changes that begin in one function have the same name.
#[derive(Debug, Default)]
pub struct KnownStatements(RwLock<HashMap<&'static str, Arc<[String]>>>);

impl KnownStatements {
    /// Returns the statements that changes of this kind have run.
    pub fn of(&self, kind: &str) -> Arc<[String]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(kind).cloned().unwrap_or_default()
    }

    /// Adds statements that a change of this kind has run. Ignores those beyond the maximum.
    pub fn add(&self, kind: &'static str, added: Vec<String>) {
        if added.is_empty() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let statements = known.entry(kind).or_default();
        let mut all = statements.to_vec();
        for statement in added {
            if all.len() < MAX_STATEMENTS && !all.contains(&statement) {
                all.push(statement);
            }
        }
        *statements = all.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_has_its_statements_up_to_the_maximum() {
        let known = KnownStatements::default();
        known.add("reply", ["SELECT 1", "SELECT 2", "SELECT 1"].map(String::from).into());
        known.add("reply", vec!["SELECT 2".into()]);
        assert_eq!(*known.of("reply"), ["SELECT 1", "SELECT 2"]);
        assert!(known.of("vote").is_empty());
        known.add("vote", (0..100).map(|number| format!("SELECT {number}")).collect());
        assert_eq!(known.of("vote").len(), MAX_STATEMENTS);
    }
}
