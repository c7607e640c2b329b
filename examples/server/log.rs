//! The log, on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::Log;

/// Starts the log; `RUST_LOG` says what is in it, `info` and graver when it says nothing.
pub fn start(format: Log) {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter.from_env_lossy())
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    match format {
        Log::Text => subscriber.init(),
        Log::Json => subscriber.json().init(),
    }
}
