//! A complete board server: the reference board, its API, and the commands that an operator needs.
//!
//! `cargo run -p forum-server` needs neither set-up nor flags.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod beginning;
pub mod board;
mod cli;
mod commands;
mod confirm;
mod connections;
mod cors;
mod front;
mod greeting;
mod keys;
mod log;
mod metrics;
mod open;
mod output;
mod password;
mod readiness;
mod serve;
mod sign_in;
mod stop;
mod webhooks;

use std::process::ExitCode;

use cli::Cli;
use forum_api::host::{Refusal, Result};
use tokio::runtime::Runtime;

/// Runs the command that the program's arguments name.
pub fn main() -> ExitCode {
    let cli = Cli::read();
    let json = cli.common.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => output::refuse(refusal, json),
    }
}

/// Does what was asked for, and waits for nothing else: a name whose resolver hangs would hold the process up.
fn run(cli: Cli) -> Result<()> {
    let Cli {
        common,
        serve,
        command,
    } = cli;
    let runtime = Runtime::new().map_err(Refusal::failed)?;
    let outcome = runtime.block_on(async {
        match command {
            Some(command) => command.run(&common, &serve).await,
            None => serve::serve(&common, &serve).await,
        }
    });
    runtime.shutdown_background();
    outcome
}
