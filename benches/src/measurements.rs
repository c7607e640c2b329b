//! Samples of several rounds, and the rows of the table in `docs/performance.md`.

use std::env;
use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

/// Returns whether the command line names this part of the benchmark, or no part.
pub fn is_selected(part: &str) -> bool {
    let mut named = env::args()
        .skip(1)
        .filter(|name| !name.starts_with("--"))
        .peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// One figure for each round, sorted.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, figure: f64) {
        self.0.push(figure);
        self.0.sort_by(f64::total_cmp);
    }

    pub fn least(&self) -> f64 {
        self.0[0]
    }

    pub fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    pub fn most(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// Prints the minimum, the median and the maximum.
    pub fn report(&self, what: &str) {
        let [least, median, most] = [self.least(), self.median(), self.most()].map(short);
        println!("  {what}: {least} {median} {most}");
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        let mut all = Self::default();
        figures.into_iter().for_each(|figure| all.add(figure));
        all
    }
}

/// Goal of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_met_by(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(goal) => figure >= goal,
            Self::AtMost(goal) => figure <= goal,
        }
    }

    fn written(self) -> String {
        match self {
            Self::AtLeast(goal) => format!("≥ {}", short(goal)),
            Self::AtMost(goal) => format!("≤ {}", short(goal)),
        }
    }
}

/// Prints a row of the table: the measured quantity, its unit, the baseline of the same run, and the goal.
///
/// Appends it to the file of `RESULTS`, with tabs between the fields. The last field says whether the median meets the
/// goal.
pub fn row(what: &str, unit: &str, against: &str, goal: Goal, figures: &Samples) {
    let median = figures.median();
    let met = if goal.is_met_by(median) { "yes" } else { "no" };
    let [least, middle, most] = [figures.least(), median, figures.most()].map(short);
    let goal = goal.written();
    println!("  {what}, {unit}, against {against}: {least} {middle} {most} (goal {goal}: {met})");
    if let Some(path) = env::var_os("RESULTS") {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        let fields = [what, unit, against, &goal, &least, &middle, &most, met];
        writeln!(file, "{}", fields.join("\t")).unwrap();
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

/// The p50 and p99 of each round in milliseconds.
#[derive(Debug, Default)]
pub struct Times {
    pub p50: Samples,
    pub p99: Samples,
}

impl Times {
    pub fn add(&mut self, mut times: Vec<Duration>) {
        times.sort_unstable();
        let part = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        self.p50.add(part(50));
        self.p99.add(part(99));
    }

    pub fn report(&self, what: &str) {
        self.p50.report(&format!("{what}, p50 in ms"));
        self.p99.report(&format!("{what}, p99 in ms"));
    }

    /// Prints the ratio to `baseline`.
    pub fn compare(&self, what: &str, baseline: &Self) {
        let p50 = self.p50.least() / baseline.p50.least();
        let p99 = self.p99.least() / baseline.p99.least();
        println!("  {what}, ratio of p50 {p50:.2}, of p99 {p99:.2}");
    }
}
