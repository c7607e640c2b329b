//! The log, on standard error.

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

/// Starts the log; `RUST_LOG` says what is in it, `info` and graver when it says nothing.
pub fn start(format: cli::Log) -> Log {
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
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(tracing::field::display);
        tracing::error!(place, "panicked");
    }));
    queue.write_to(io::stderr());
    Log(queue)
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.finish();
    }
}
