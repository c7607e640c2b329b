//! Progress of a copy.

/// Part of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Copying,
    Indexing,
    Comparing,
}

/// Receiver of the progress of a copy.
pub trait Progress: Sync {
    /// Called at the beginning of a step, which processes this number of rows.
    fn begin(&self, step: Step, rows: u64);

    /// Called after further rows of the step.
    fn advance(&self, rows: u64);
}
