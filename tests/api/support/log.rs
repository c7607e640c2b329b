//! The log of the test binary, at level TRACE.

use std::io::{self, Write};
use std::sync::{Once, PoisonError};

use super::*;
use tracing::Level;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Starts to capture the log. Every [`Server`](super::Server) calls it.
pub(crate) fn capture() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(|| Lines)
            .init();
    });
}

/// Returns the log.
pub(crate) fn text() -> String {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&lines).into_owned()
}

/// Returns the log lines of the request with this response.
pub(crate) fn of(response: &TestResponse) -> String {
    let id = response.header("x-request-id").unwrap();
    let text = text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains(id)).collect();
    lines.join("\n")
}

struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
