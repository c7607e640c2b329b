//! Every rule, and how the host keeps it.

use std::fmt;

use super::{CASES, Host, Stop, Suite, Verdict};
use crate::clock::BoxFuture;

/// A rule, as something to try on a board.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The file that it is in, and the rule: `visibility::a_hidden_thread_is_absent`.
    pub name: &'static str,
    run: Run,
}

/// What a case does with an empty board.
type Run = for<'a> fn(&'a Suite) -> BoxFuture<'a, Verdict>;

impl Case {
    /// A case of this name. Public, so that a host may try rules of its own like the suite's.
    pub const fn new(name: &'static str, run: Run) -> Self {
        Self { name, run }
    }

    /// Tries it on a new board of `host`'s.
    ///
    /// # Errors
    /// When the rule is broken, or about something that the host lacks.
    pub async fn check(&self, host: &dyn Host) -> Verdict {
        let suite = Suite::new(host).await?;
        (self.run)(&suite).await
    }

    /// Tries it as a test; a host that lacks what it is about passes, and a line says so.
    ///
    /// # Panics
    /// When the rule is broken.
    #[expect(
        clippy::panic,
        clippy::print_stdout,
        reason = "this is how a test speaks"
    )]
    pub async fn must_hold(self, host: &dyn Host) {
        match self.check(host).await {
            Ok(()) => {}
            Err(Stop::Lacks(part)) => println!("skipped {}: the host lacks {part}", self.name),
            Err(Stop::Broken(text)) => panic!("the rule {} is broken: {text}", self.name),
        }
    }
}

/// Tries every rule on `host`, each on a board of its own.
pub async fn run_all(host: &dyn Host) -> Report {
    let mut report = Report::default();
    for case in CASES {
        report.0.push((case.name, case.check(host).await));
    }
    report
}

/// What [`run_all`] found. Printed, it is a line for each rule.
#[derive(Clone, Debug, Default)]
pub struct Report(Vec<(&'static str, Verdict)>);

impl Report {
    /// Every rule, and what was found.
    pub fn verdicts(&self) -> impl Iterator<Item = (&'static str, &Verdict)> {
        self.0.iter().map(|(name, verdict)| (*name, verdict))
    }

    /// The rules that hold.
    pub fn passed(&self) -> impl Iterator<Item = &'static str> {
        self.named(|verdict| verdict.is_ok())
    }

    /// The rules that are about what the host lacks.
    pub fn skipped(&self) -> impl Iterator<Item = &'static str> {
        self.named(|verdict| matches!(verdict, Err(Stop::Lacks(_))))
    }

    /// The rules that are broken.
    pub fn failed(&self) -> impl Iterator<Item = &'static str> {
        self.named(|verdict| matches!(verdict, Err(Stop::Broken(_))))
    }

    fn named(&self, is: fn(&Verdict) -> bool) -> impl Iterator<Item = &'static str> {
        let found = self.verdicts().filter(move |(_, verdict)| is(verdict));
        found.map(|(name, _)| name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, verdict) in self.verdicts() {
            match verdict {
                Ok(()) => writeln!(f, "passed   {name}")?,
                Err(Stop::Lacks(part)) => writeln!(f, "skipped  {name}: the host lacks {part}")?,
                Err(Stop::Broken(text)) => writeln!(f, "BROKEN   {name}: {text}")?,
            }
        }
        let (passed, skipped, failed) = (
            self.passed().count(),
            self.skipped().count(),
            self.failed().count(),
        );
        write!(f, "{passed} passed, {skipped} skipped, {failed} broken")
    }
}
