//! Lines that wait to be written: whoever logs never waits for whoever reads.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many lines wait at most; those after them are lost, and counted.
const ROOM: usize = 4096;

/// How long the end of the process waits for a reader.
const PATIENCE: Duration = Duration::from_secs(1);

/// The queue; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// How many were lost since that was last told.
    lost: u64,
    /// Whether a line is being written, or told.
    busy: bool,
}

/// What there is to do.
enum Work {
    Write(Vec<u8>),
    Tell(u64),
}

impl Queue {
    /// Writes every line to `output` from now on, on a thread that ends with the process.
    pub fn write_to(&self, mut output: impl Write + Send + 'static) {
        let queue = self.clone();
        thread::spawn(move || {
            loop {
                match queue.next() {
                    // There is nobody to tell that nobody can be told.
                    Work::Write(line) => drop(output.write_all(&line)),
                    Work::Tell(lost) => {
                        tracing::warn!(lost, "lines of the log were lost: nobody read it in time");
                    }
                }
            }
        });
    }

    /// Waits until all is written, but not for long.
    pub fn finish(&self) {
        let waits = |state: &mut State| state.busy || state.lost > 0 || !state.lines.is_empty();
        let changed = &self.0.changed;
        drop(changed.wait_timeout_while(self.lock(), PATIENCE, waits));
    }

    /// The lines in their order, and when none is left, whether some are missing.
    fn next(&self) -> Work {
        let mut state = self.lock();
        state.busy = false;
        self.0.changed.notify_all();
        loop {
            if let Some(work) = state.work() {
                state.busy = true;
                return work;
            }
            let woken = self.0.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn work(&mut self) -> Option<Work> {
        let line = self.lines.pop_front().map(Work::Write);
        let lost = (line.is_none() && self.lost > 0).then(|| std::mem::take(&mut self.lost));
        line.or(lost.map(Work::Tell))
    }
}

/// Takes a whole line at a time, as the log writes them.
impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        if state.lines.len() < ROOM {
            state.lines.push_back(line.to_vec());
        } else {
            state.lost += 1;
        }
        drop(state);
        self.0.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
