//! The log of the whole test binary, at TRACE.

use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};

use forum_api::test_util::TestResponse;
use tracing::Level;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Begins to keep the log. Every server of the tests calls it.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(|| Lines)
            .init();
    });
}

/// All that was logged so far.
pub(crate) fn text() -> String {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&lines).into_owned()
}

/// What was logged of the request that got this answer.
pub(crate) fn of(answer: &TestResponse) -> String {
    let id = answer.header("x-request-id").unwrap();
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
