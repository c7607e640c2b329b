//! Every rule, and how the host keeps it.

use std::fmt;
use std::future::Future;

use super::{BoardFactory, Suite, TestFailure, TestResult};
use crate::conformance::CASES;
use crate::runtime::BoxFuture;

/// A rule, as something to try: on a board's [`Suite`], or on a [`StoreFixture`](crate::conformance::stores::StoreFixture) of stores.
#[derive(Debug)]
pub struct Case<S = Suite> {
    /// The file that it is in, and the rule: `visibility::a_hidden_thread_is_not_found`.
    pub name: &'static str,
    run: Run<S>,
}

/// What a case does.
type Run<S> = for<'a> fn(&'a S) -> BoxFuture<'a, TestResult>;

impl<S> Case<S> {
    /// A case of this name. Public, so that a host may try rules of its own like the suite's.
    pub const fn new(name: &'static str, run: Run<S>) -> Self {
        Self { name, run }
    }

    /// Tries it on `subject`, which nothing else was tried on.
    ///
    /// # Errors
    /// When the rule is broken, or about something that the host lacks.
    pub async fn check(&self, subject: impl Future<Output = TestResult<S>>) -> TestResult {
        (self.run)(&subject.await?).await
    }

    /// Tries it as a test; a host that lacks what it is about passes, and a line says so.
    ///
    /// # Panics
    /// When the rule is broken.
    #[expect(
        clippy::panic,
        clippy::print_stdout,
        reason = "a test reports its result this way"
    )]
    pub async fn run_or_panic(&self, subject: impl Future<Output = TestResult<S>>) {
        match self.check(subject).await {
            Ok(()) => {}
            Err(TestFailure::Unsupported(part)) => {
                println!("skipped {}: the host does not support {part}", self.name)
            }
            Err(TestFailure::Failed(text)) => panic!("the rule {} failed: {text}", self.name),
        }
    }
}

/// Tries every rule on `host`, each on a board of its own.
pub async fn run_all(host: &dyn BoardFactory) -> Report {
    Report::of(CASES, || Suite::new(host)).await
}

/// The results of [`run_all`]. Its text has a line for each rule.
#[derive(Clone, Debug, Default)]
pub struct Report(Vec<(&'static str, TestResult)>);

impl Report {
    pub(crate) async fn of<S, F: Future<Output = TestResult<S>>>(
        cases: &[Case<S>],
        subject: impl Fn() -> F,
    ) -> Self {
        let mut report = Self::default();
        for case in cases {
            report.0.push((case.name, case.check(subject()).await));
        }
        report
    }

    /// Every rule and its result.
    pub fn results(&self) -> impl Iterator<Item = (&'static str, &TestResult)> {
        self.0.iter().map(|(name, result)| (*name, result))
    }

    /// The rules that passed.
    pub fn passed(&self) -> impl Iterator<Item = &'static str> {
        self.named(|result| result.is_ok())
    }

    /// The rules about something that the host lacks.
    pub fn skipped(&self) -> impl Iterator<Item = &'static str> {
        self.named(|result| matches!(result, Err(TestFailure::Unsupported(_))))
    }

    /// The rules that are broken.
    pub fn failed(&self) -> impl Iterator<Item = &'static str> {
        self.named(|result| matches!(result, Err(TestFailure::Failed(_))))
    }

    fn named(&self, is: fn(&TestResult) -> bool) -> impl Iterator<Item = &'static str> {
        let found = self.results().filter(move |(_, result)| is(result));
        found.map(|(name, _)| name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, result) in self.results() {
            match result {
                Ok(()) => writeln!(f, "passed   {name}")?,
                Err(failure @ TestFailure::Unsupported(_)) => {
                    writeln!(f, "skipped  {name}: {failure}")?;
                }
                Err(failure) => writeln!(f, "FAILED   {name}: {failure}")?,
            }
        }
        let passed = self.passed().count();
        let (skipped, failed) = (self.skipped().count(), self.failed().count());
        write!(f, "{passed} passed, {skipped} skipped, {failed} failed")
    }
}

/// The rules of all `files` as one array of `N`.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
pub(crate) const fn joined<S, const N: usize>(files: &[&[Case<S>]]) -> [Case<S>; N] {
    let mut cases = [const { Case::<S>::new("", |_| Box::pin(std::future::ready(Ok(())))) }; N];
    let (mut at, mut file) = (0, 0);
    while file < files.len() {
        let mut rule = 0;
        while rule < files[file].len() {
            let Case { name, run } = &files[file][rule];
            cases[at] = Case { name, run: *run };
            at += 1;
            rule += 1;
        }
        file += 1;
    }
    cases
}
