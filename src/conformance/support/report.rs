//! Rules as test cases, and the report of all.

use std::collections::BTreeSet;
use std::fmt;

use super::test_caller::METHODS;
use super::{Subject, TestFailure, TestResult};
use crate::runtime::BoxFuture;

/// A named rule: a function that tests the board of a [`Suite`](super::Suite) or the stores of a
/// [`StoreFixture`](super::StoreFixture).
pub(crate) struct Case<S> {
    /// The file and the function of the rule: `visibility::a_hidden_thread_is_not_found`.
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a S) -> BoxFuture<'a, TestResult>,
}

impl<S: Subject> Case<S> {
    /// Runs the rule.
    ///
    /// # Errors
    /// If the rule fails, the host does not support one of its capabilities, or the rule passes although the host
    /// expects a difference.
    pub(crate) async fn run_on(&self, subject: &S) -> TestResult {
        let result = (self.run)(subject).await;
        match (subject.expected_difference(self.name), result) {
            (Some(reason), Ok(())) => Err(TestFailure::Failed(format!(
                "the rule passed, but the host lists it as an expected difference: {reason}"
            ))),
            (Some(reason), Err(TestFailure::Failed(text))) => {
                Err(TestFailure::Expected { reason: reason.into(), text })
            }
            (None, Err(failure)) => Err(match subject.last_call() {
                Some(call) => failure.with_last_call(&call),
                None => failure,
            }),
            (_, result) => result,
        }
    }
}

/// Returns the rule `name`.
///
/// # Panics
/// If no rule has this name.
#[expect(clippy::panic, reason = "the name is written in a test")]
pub(crate) fn find<S: 'static>(
    mut cases: impl Iterator<Item = &'static Case<S>>,
    name: &str,
) -> &'static Case<S> {
    let found = cases.find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("no rule has the name `{name}`"))
}

/// Runs the rule `name` in a `#[test]` and reports its result. Prints a line if a capability is unsupported, or if the rule
/// fails as expected.
///
/// # Panics
/// If the rule failed.
#[expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test panics to fail, and prints to stdout"
)]
pub async fn report_test(name: &str, run: impl Future<Output = TestResult>) {
    match run.await {
        Ok(()) => {}
        Err(TestFailure::Failed(text)) => panic!("the rule {name} failed: {text}"),
        Err(difference @ TestFailure::Expected { .. }) => println!("differs {name}: {difference}"),
        Err(unsupported) => println!("skipped {name}: {unsupported}"),
    }
}

/// The results of all rules. `Display` writes a line for each rule, the totals, and how many of the rules and of the
/// methods of a board they cover.
#[derive(Clone, Debug, Default)]
pub struct Report {
    results: Vec<(&'static str, TestResult)>,
    /// The methods that were called and that the host supports.
    methods: BTreeSet<&'static str>,
}

impl Report {
    pub(crate) async fn create<S: Subject + 'static, F: Future<Output = TestResult<S>>>(
        cases: impl Iterator<Item = &'static Case<S>>,
        subject: impl Fn() -> F,
    ) -> Self {
        let mut report = Self::default();
        for case in cases {
            let result = match subject().await {
                Ok(subject) => {
                    let result = case.run_on(&subject).await;
                    report.methods.extend(subject.methods());
                    result
                }
                Err(failure) => Err(failure),
            };
            report.results.push((case.name, result));
        }
        report
    }

    /// Returns every rule with its result.
    pub fn results(&self) -> impl Iterator<Item = (&'static str, &TestResult)> {
        self.results.iter().map(|(name, result)| (*name, result))
    }

    /// Returns the names of the rules that passed.
    pub fn passed(&self) -> impl Iterator<Item = &'static str> {
        self.names(|result| result.is_ok())
    }

    /// Returns the names of the rules that were skipped because of an unsupported capability.
    pub fn skipped(&self) -> impl Iterator<Item = &'static str> {
        self.names(|result| matches!(result, Err(TestFailure::Unsupported(_))))
    }

    /// Returns the names of the rules that failed as [expected](super::BoardFactory::expected_differences).
    pub fn differing(&self) -> impl Iterator<Item = &'static str> {
        self.names(|result| matches!(result, Err(TestFailure::Expected { .. })))
    }

    /// Returns the names of the rules that failed unexpectedly.
    pub fn failed(&self) -> impl Iterator<Item = &'static str> {
        self.names(|result| matches!(result, Err(TestFailure::Failed(_))))
    }

    /// Returns the unsupported capabilities because of which rules were skipped, in alphabetical order.
    fn unsupported(&self) -> BTreeSet<String> {
        let results = self.results().map(|(_, result)| result);
        let unsupported = results.filter_map(|result| match result {
            Err(TestFailure::Unsupported(capability)) => Some(capability.to_string()),
            _ => None,
        });
        unsupported.collect()
    }

    fn names(&self, filter: fn(&TestResult) -> bool) -> impl Iterator<Item = &'static str> {
        let results = self.results().filter(move |(_, result)| filter(result));
        results.map(|(name, _)| name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, result) in self.results() {
            match result {
                Ok(()) => writeln!(f, "passed   {name}")?,
                Err(TestFailure::Failed(text)) => writeln!(f, "FAILED   {name}: {text}")?,
                Err(difference @ TestFailure::Expected { .. }) => {
                    writeln!(f, "differs  {name}: {difference}")?;
                }
                Err(unsupported) => writeln!(f, "skipped  {name}: {unsupported}")?,
            }
        }
        let passed = self.passed().count();
        let skipped = self.skipped().count();
        let differing = self.differing().count();
        let failed = self.failed().count();
        writeln!(
            f,
            "{passed} passed, {skipped} skipped, {differing} differ as expected, {failed} failed"
        )?;
        let total = self.results.len();
        let covered = self.results.len() - skipped;
        write!(f, "coverage: ")?;
        if !self.methods.is_empty() {
            write!(f, "{} of {} methods, ", self.methods.len(), METHODS.len())?;
        }
        write!(f, "{covered} of {total} rules")?;
        let unsupported = Vec::from_iter(self.unsupported());
        if unsupported.is_empty() {
            return Ok(());
        }
        write!(f, "; skipped: {}", unsupported.join(", "))
    }
}
