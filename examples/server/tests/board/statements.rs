//! Recorder of the statements that SQLite runs.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex, Once};
use std::thread::{self, ThreadId};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The statements of each thread of a database.
static STATEMENTS: LazyLock<Mutex<HashMap<ThreadId, Vec<String>>>> = LazyLock::new(Mutex::default);

/// Records the statements of all databases that are opened from now on.
pub fn record_statements() {
    static RECORD: Once = Once::new();
    RECORD.call_once(|| {
        tracing_subscriber::registry()
            .with(StatementRecorder)
            .init()
    });
}

/// Takes the statements of a thread since the last call.
pub fn take_statements(thread: ThreadId) -> Vec<String> {
    STATEMENTS
        .lock()
        .unwrap()
        .remove(&thread)
        .unwrap_or_default()
}

struct StatementRecorder;

impl<S: Subscriber> Layer<S> for StatementRecorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Statement);
    }
}

struct Statement;

impl Visit for Statement {
    /// Records a statement. Ignores transaction control, and statements that the search index runs on its own tables.
    fn record_str(&mut self, field: &Field, sql: &str) {
        let word = sql.split_whitespace().next().unwrap_or_default();
        let transaction_control = ["BEGIN", "SAVEPOINT", "RELEASE", "COMMIT"];
        if field.name() == "sql"
            && !transaction_control.contains(&word)
            && !sql.contains("'main'.'")
        {
            let mut threads = STATEMENTS.lock().unwrap();
            let statements = threads.entry(thread::current().id()).or_default();
            statements.push(sql.into());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
