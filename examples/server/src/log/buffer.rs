//! A bounded buffer between the threads that log and the thread that writes, so that logging never waits for output.
//!
//! `tracing-appender` writes each line on its own and wakes its thread for it, which costs 1 to 6 µs of CPU time more of a
//! request's 27 µs or more. It bounds the number of lines instead of the memory, and logs no number of lost lines.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use metrics::counter;

use super::line::limit;

/// Counter of the dropped lines.
pub const DROPPED_LINES: &str = "forum_server_log_lines_dropped_total";

/// Maximum number of buffered bytes. Further lines are dropped and counted.
const CAPACITY: usize = 1 << 20;

/// Time for which the first line waits for further ones, because waking the thread costs more than formatting a line.
const FLUSH_INTERVAL: Duration = Duration::from_millis(1);

/// Maximum time that the end of the process waits for output.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The buffer; clones share it.
#[derive(Clone, Debug, Default)]
pub struct LogBuffer(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Lines dropped since the last warning.
    lost: u64,
    /// True while lines or the warning are written.
    busy: bool,
}

impl LogBuffer {
    /// Writes every line to `output` from now on, on a thread that ends with the process.
    pub fn write_to(&self, mut output: impl Write + Send + 'static) {
        let buffer = self.clone();
        thread::spawn(move || {
            loop {
                let (lines, lost) = buffer.take();
                // There is no other place to report an error.
                drop(output.write_all(&lines));
                if lost > 0 {
                    tracing::warn!(lost, "log lines dropped: output too slow");
                }
            }
        });
    }

    /// Waits until all lines are written, for at most [`FLUSH_TIMEOUT`].
    pub fn drain(&self) {
        let waits = |state: &mut State| state.busy || !state.lines.is_empty();
        let changed = &self.0.changed;
        drop(changed.wait_timeout_while(self.lock(), FLUSH_TIMEOUT, waits));
    }

    /// Waits for lines. Returns them, and the number of lines lost after them.
    fn take(&self) -> (Vec<u8>, u64) {
        let mut state = self.lock();
        state.busy = false;
        self.0.changed.notify_all();
        let idle = |state: &mut State| state.lines.is_empty();
        drop(self.0.changed.wait_while(state, idle));
        thread::sleep(FLUSH_INTERVAL);
        let mut state = self.lock();
        state.busy = true;
        (mem::take(&mut state.lines), mem::take(&mut state.lost))
    }

    /// No code that can panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Buffers one whole line at each call.
impl Write for LogBuffer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let limited = limit(line);
        let mut state = self.lock();
        let was_empty = state.lines.is_empty();
        let is_lost = state.lines.len() >= CAPACITY;
        if is_lost {
            state.lost += 1;
        } else {
            state.lines.extend_from_slice(&limited);
        }
        drop(state);
        if is_lost {
            counter!(DROPPED_LINES).increment(1);
        }
        if was_empty {
            self.0.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
