//! Progress of a copy.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

/// Template of the progress of a step that counts its rows.
const ROWS: &str = "{msg:9} {bar:40} {human_pos} of {human_len} rows, {rate} rows/s, {eta} left";

/// Template of the progress of another step.
const WITHOUT_ROWS: &str = "{msg}: {elapsed}";

/// Interval at which the progress bar is drawn during a step without progress.
const TICK: Duration = Duration::from_millis(200);

/// Progress bar on a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub fn begin(step: &'static str) -> Self {
        let progress = Self(ProgressBar::new(0));
        progress.begin_step(step, None);
        progress.0.enable_steady_tick(TICK);
        progress
    }

    /// Begins a step, which counts its rows if their number is given.
    pub fn begin_step(&self, step: &'static str, rows: Option<u64>) {
        let template = if rows.is_some() { ROWS } else { WITHOUT_ROWS };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.set_style(style.with_key("rate", write_rate));
        self.0.set_message(step);
        self.0.reset();
        self.0.set_length(rows.unwrap_or_default());
    }

    /// Counts further rows of the step.
    pub fn advance(&self, rows: u64) {
        self.0.inc(rows);
    }

    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}

fn write_rate(state: &ProgressState, text: &mut dyn Write) {
    write!(text, "{}", HumanCount(state.per_sec() as u64)).ok();
}
