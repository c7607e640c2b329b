//! Properties of a board or of stores under test, besides the results of their rules.

/// Board or stores that a rule tests.
pub(crate) trait Subject {
    /// Returns the reason why the host breaks a rule on purpose.
    fn expected_difference(&self, _rule: &str) -> Option<&str> {
        None
    }

    /// Returns the methods of the board that the rule called and that the host supports.
    fn methods(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the last call that the rule made.
    fn last_call(&self) -> Option<String> {
        None
    }
}
