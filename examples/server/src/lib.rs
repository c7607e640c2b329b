//! A complete board server: the reference board, its API, and the commands that an operator needs.
//!
//! `cargo run -p forum-server` needs neither set-up nor flags.

#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)
)]

pub mod audit;
pub mod board;
mod bootstrap;
mod certificates;
mod cli;
mod commands;
mod connect;
mod database_lock;
mod http;
mod keys;
pub mod log;
mod nearest;
mod new_file;
mod options;
mod output;
mod own_files;
mod prompt;
mod redis_check;
mod serve;
mod server_parts;
mod shutdown;
mod sign_in;
mod startup_banner;
mod terminal;
mod webhooks;

use std::process::ExitCode;

use cli::{Cli, InvalidConfiguration};
use forum_api::host::BoardError;
use tokio::runtime::Runtime;

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(InvalidConfiguration { error, json }) => return output::refuse(error, json),
    };
    let json = cli.common.json;
    let outcome = Runtime::new().map_err(BoardError::internal).and_then(|runtime| {
        let outcome = runtime.block_on(cli.run());
        // A resolver that hangs must not delay the end.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => output::refuse(refusal, json),
    }
}
