//! Samples of several rounds, and the rows of the table in `docs/performance.md`.

use std::env;
use std::fs::File;
use std::io::{self, Write as _};
use std::process::Command;
use std::time::Duration;

/// Number of rounds of a benchmark.
pub const ROUNDS: usize = 5;

/// Returns whether the command line names this part of the benchmark, or no part.
pub fn is_selected(part: &str) -> bool {
    let mut named = env::args().skip(1).filter(|name| !name.starts_with("--")).peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// Returns a number from the environment, by which a run can be made smaller.
pub fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// Returns whether the environment selects Postgres.
pub fn is_postgres() -> bool {
    env::var_os("FORUM_API_BACKEND").is_some()
}

/// Name of the selected database.
pub fn backend_name() -> &'static str {
    if is_postgres() { "Postgres" } else { "SQLite" }
}

/// Returns the value for the selected database.
pub fn by_backend<T>(sqlite: T, postgres: T) -> T {
    if is_postgres() { postgres } else { sqlite }
}

/// One figure for each round, sorted.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, figure: f64) {
        self.0.push(figure);
        self.0.sort_by(f64::total_cmp);
    }

    /// Prints the minimum, the median and the maximum.
    pub fn report(&self, what: &str) {
        println!("  {what}: {}", self.written().join(" "));
    }

    fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    /// The minimum, the median and the maximum.
    fn written(&self) -> [String; 3] {
        [self.0[0], self.median(), self.0[self.0.len() - 1]].map(short)
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        let mut all = Self::default();
        figures.into_iter().for_each(|figure| all.add(figure));
        all
    }
}

/// Returns the percentiles of `times` in milliseconds.
pub fn percentiles<const N: usize>(mut times: Vec<Duration>, percents: [f64; N]) -> [f64; N] {
    times.sort_unstable();
    percents.map(|percent| {
        let index = (times.len() - 1) as f64 * percent / 100.0;
        times[index as usize].as_secs_f64() * 1e3
    })
}

/// Runs this program under callgrind, with these options of callgrind and these environment variables. Returns the
/// number of instructions that callgrind counts.
///
/// # Errors
/// If valgrind is not installed.
pub fn count_instructions<'a>(
    options: &[&str],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(options)
        .arg(env::current_exe()?)
        .envs(variables)
        .output()?;
    let is_success = output.status.success();
    let output = String::from_utf8(output.stderr).unwrap();
    assert!(is_success, "{output}");
    let collected = output
        .split("Collected : ")
        .nth(1)
        .and_then(|rest| rest.lines().next()?.trim().parse().ok())
        // A program without symbols has no function whose instructions are counted.
        .filter(|count| *count > 0);
    Ok(collected.unwrap_or_else(|| panic!("{output}")))
}

/// Goal of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
    None,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The measured quantity.
    pub what: &'a str,
    pub unit: &'a str,
    /// The baseline of the same run.
    pub baseline: &'a str,
    pub goal: Goal,
    /// Why the goal is missed, if it is.
    pub cause: &'a str,
}

impl Row<'_> {
    /// Prints the row. Appends it to the file of `RESULTS`, with tabs between the fields.
    pub fn write(&self, figures: &Samples) {
        let Self { what, unit, baseline, .. } = self;
        let (goal, result) = self.result(figures.median());
        let [least, median, most] = figures.written();
        println!(
            "  {what}, {unit}, against {baseline}: {least} {median} {most} (goal {goal}: {result})"
        );
        if let Some(path) = env::var_os("RESULTS") {
            let mut appending = File::options();
            let mut file = appending.create(true).append(true).open(path).unwrap();
            let fields = [what, unit, baseline, &*goal, &least, &median, &most, &result];
            writeln!(file, "{}", fields.join("\t")).unwrap();
        }
    }

    /// Returns the goal, and whether the median meets it.
    fn result(&self, median: f64) -> (String, String) {
        let (goal, is_met) = match self.goal {
            Goal::AtLeast(goal) => (format!("≥ {}", short(goal)), median >= goal),
            Goal::AtMost(goal) => (format!("≤ {}", short(goal)), median <= goal),
            Goal::None => return ("none".into(), "no goal".into()),
        };
        let result = match (is_met, self.cause) {
            (true, _) => "met".into(),
            (false, "") => "missed".into(),
            (false, cause) => format!("missed: {cause}"),
        };
        (goal, result)
    }
}

/// Formats a figure below 100 with three digits, others without decimals.
fn short(figure: f64) -> String {
    let places = match figure.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{figure:.places$}")
}
