//! The log, on standard error.

mod panics;
mod queue;

use std::io::{self, IsTerminal};
use std::panic;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::cli;
use queue::Queue;

/// The log while it is kept; what waits to be written when it is dropped is waited for, within reason.
#[derive(Debug)]
pub struct Log(Queue);

/// Starts the log; `RUST_LOG` filters it, and the default level is `info`. `panics_in_full` logs formatted panic messages.
pub fn start(format: cli::Log, panics_in_full: bool) -> Log {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    let queue = Queue::default();
    let lines = queue.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter.from_env_lossy())
        .with_ansi(io::stderr().is_terminal())
        .with_writer(move || lines.clone());
    match format {
        cli::Log::Text => subscriber.init(),
        cli::Log::Json => subscriber.json().init(),
    }
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(tracing::field::display);
        let reason = panics::message(panic.payload(), panics_in_full);
        tracing::error!(place, ?reason, "panicked");
    }));
    queue.write_to(io::stderr());
    Log(queue)
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.finish();
    }
}
