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
/// The subscriber is global, because with a subscriber for each test the result depends on which thread logs first.
pub fn record() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(|| ThreadLines)
            .init();
    });
    LINES.take();
}

/// Takes the recorded lines of the current thread.
pub fn take() -> String {
    String::from_utf8(LINES.take()).unwrap()
}
