//! Lines that wait to be written, many at once: whoever logs never waits for whoever reads.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many bytes wait at most, beside those that are being written; lines that come then are lost, and counted.
const ROOM: usize = 1 << 20;

/// How long the first line waits for others: to wake a thread for each costs more than to make it.
const GATHERING: Duration = Duration::from_millis(1);

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
    lines: Vec<u8>,
    /// How many were lost since that was last told.
    lost: u64,
    /// Whether lines are being written, or it is told that some were lost.
    busy: bool,
}

impl Queue {
    /// Writes every line to `output` from now on, on a thread that ends with the process.
    pub fn write_to(&self, mut output: impl Write + Send + 'static) {
        let queue = self.clone();
        thread::spawn(move || {
            loop {
                let (lines, lost) = queue.next();
                // There is nobody to tell that nobody can be told.
                drop(output.write_all(&lines));
                if lost > 0 {
                    tracing::warn!(lost, "lines of the log were lost: nobody read it in time");
                }
            }
        });
    }

    /// Waits until all is written, but not for long.
    pub fn finish(&self) {
        let waits = |state: &mut State| state.busy || !state.lines.is_empty();
        let changed = &self.0.changed;
        drop(changed.wait_timeout_while(self.lock(), PATIENCE, waits));
    }

    /// The lines in their order, and how many are missing after them.
    fn next(&self) -> (Vec<u8>, u64) {
        let mut state = self.lock();
        state.busy = false;
        self.0.changed.notify_all();
        let idle = |state: &mut State| state.lines.is_empty();
        drop(self.0.changed.wait_while(state, idle));
        thread::sleep(GATHERING);
        let mut state = self.lock();
        state.busy = true;
        (mem::take(&mut state.lines), mem::take(&mut state.lost))
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a whole line at a time, as the log writes them.
impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        let was_empty = state.lines.is_empty();
        if state.lines.len() < ROOM {
            state.lines.extend_from_slice(line);
        } else {
            state.lost += 1;
        }
        drop(state);
        if was_empty {
            self.0.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
