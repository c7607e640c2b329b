//! Lines that wait to be written, many at once: whoever logs never waits for whoever reads.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many bytes wait at most; lines that come then are lost, and counted.
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
    /// Whether lines are being written, or told.
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
                    Work::Write(lines) => drop(output.write_all(&lines)),
                    Work::Tell(lost) => {
                        tracing::warn!(lost, "lines of the log were lost: nobody read it in time");
                    }
                }
            }
        });
    }

    /// Waits until all is written, but not for long.
    pub fn finish(&self) {
        let waits = |state: &mut State| state.busy || !state.is_empty();
        let changed = &self.0.changed;
        drop(changed.wait_timeout_while(self.lock(), PATIENCE, waits));
    }

    /// The lines in their order, and when none is left, how many are missing.
    fn next(&self) -> Work {
        let mut state = self.lock();
        state.busy = false;
        self.0.changed.notify_all();
        let idle = |state: &mut State| state.is_empty();
        drop(self.0.changed.wait_while(state, idle));
        thread::sleep(GATHERING);
        self.lock().work()
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.lost == 0
    }

    fn work(&mut self) -> Work {
        self.busy = true;
        if self.lines.is_empty() {
            Work::Tell(mem::take(&mut self.lost))
        } else {
            Work::Write(mem::take(&mut self.lines))
        }
    }
}

/// Takes a whole line at a time, as the log writes them.
impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        let was_empty = state.is_empty();
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
