//! How budgets are named in Redis.

use crate::rate_limit::BudgetKey;

/// The name of a budget.
pub(super) fn name(prefix: &str, key: &BudgetKey) -> String {
    match key {
        BudgetKey::Token(lookup) => format!("{prefix}budget:token:{lookup}"),
        BudgetKey::Prefix(address) => format!("{prefix}budget:prefix:{address:032x}"),
        BudgetKey::NoAddress => format!("{prefix}budget:no_address"),
        BudgetKey::Attempts(hash) => format!("{prefix}budget:attempts:{hash:032x}"),
    }
}

/// What is charged to see whether Redis serves, and nobody's.
pub(super) fn probe(prefix: &str) -> String {
    format!("{prefix}budget:probe")
}
