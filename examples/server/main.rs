//! A complete board server: the reference board, its API, and the commands that an operator needs.
//!
//! `cargo run --example server` needs neither set-up nor flags.

#![expect(
    unreachable_pub,
    reason = "nobody imports a program: `pub` is what a module offers the others"
)]

mod beginning;
mod board;
mod cli;
mod commands;
mod cors;
mod front;
mod greeting;
mod log;
mod open;
mod output;
mod password;
mod serve;
mod stop;
mod webhooks;

use std::process::ExitCode;

use cli::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    let Cli {
        common,
        serve,
        command,
    } = Cli::read();
    let outcome = match command {
        Some(command) => command.run(&common, &serve).await,
        None => serve::serve(&common, &serve).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => output::refuse(refusal, common.json),
    }
}
