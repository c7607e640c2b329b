//! The log lines of the current thread.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::prelude::*;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Number of [`StatementLog`]s.
static STATEMENT_LOGS: AtomicUsize = AtomicUsize::new(0);

struct ThreadLines;

impl Write for ThreadLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to record the lines of each thread, at every level, except for the statements of the databases: their lines take
/// a large part of the time of other tests.
///
/// The subscriber is global, because with a subscriber for each test the result depends on which thread logs first.
pub fn start() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        let filter = dynamic_filter_fn(|metadata, _| {
            !is_of_statement(metadata) || STATEMENT_LOGS.load(Ordering::Relaxed) > 0
        });
        let without_statements = filter.with_callsite_filter(|metadata| {
            if is_of_statement(metadata) { Interest::sometimes() } else { Interest::always() }
        });
        let lines = tracing_subscriber::fmt::layer().with_writer(|| ThreadLines).with_ansi(false);
        tracing_subscriber::registry().with(without_statements).with(lines).init();
    });
}

fn is_of_statement(metadata: &Metadata<'_>) -> bool {
    *metadata.level() == Level::TRACE && metadata.target().starts_with("forum_api::store::")
}

/// Starts to record, and discards the recorded lines of the current thread.
pub fn record() {
    start();
    LINES.take();
}

/// Guard of [`record_statements`]: the lines of statements are recorded while one exists.
#[derive(Debug)]
#[must_use]
pub struct StatementLog(());

impl Drop for StatementLog {
    fn drop(&mut self) {
        STATEMENT_LOGS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts to record, including the statements of databases that are opened before the result is dropped. Discards the
/// recorded lines of the current thread.
pub fn record_statements() -> StatementLog {
    STATEMENT_LOGS.fetch_add(1, Ordering::Relaxed);
    record();
    StatementLog(())
}

/// Returns the recorded lines of the current thread.
pub fn text() -> String {
    LINES.with_borrow(|lines| String::from_utf8_lossy(lines).into_owned())
}

/// Takes the recorded lines of the current thread.
pub fn take() -> String {
    String::from_utf8(LINES.take()).unwrap()
}
