//! The log lines of the current thread.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Once;

use tracing::Level;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ThreadLines;

impl Write for ThreadLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to record the lines of each thread, at every level, and discards the recorded lines of the current thread.
///
/// Starts to record the lines of each thread, at every level.
///
/// The subscriber is global, because with a subscriber for each test the result depends on which thread logs first.
pub fn start() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        let lines = tracing_subscriber::fmt().with_writer(|| ThreadLines);
        lines.with_max_level(Level::TRACE).with_ansi(false).init();
    });
}

/// Starts to record, and discards the recorded lines of the current thread.
pub fn record() {
    start();
    LINES.take();
}

/// Returns the recorded lines of the current thread.
pub fn text() -> String {
    LINES.with_borrow(|lines| String::from_utf8_lossy(lines).into_owned())
}
pub fn take() -> String {
    String::from_utf8(LINES.take()).unwrap()
}
