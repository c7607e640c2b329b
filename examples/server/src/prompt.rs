//! Input of commands: passwords and confirmation.

use std::io::{self, BufRead, IsTerminal, Write};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use clap::Args;
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::runtime::{OsRandom, RandomSource};

use crate::terminal;

/// Returns the first line of stdin if `from_stdin` is set, and otherwise asks for `what` at the terminal, without echo.
pub async fn password(what: &str, from_stdin: bool) -> BoardResult<String> {
    if from_stdin {
        return first_line_of_stdin("a password");
    }
    if !can_ask() {
        let reason = "standard input is not a terminal; pass --password-stdin and write the password to the first line of standard input";
        return Err(BoardError::validation("password", reason));
    }
    let typed = terminal::read_hidden(format!("{what}: ")).await.or_internal()?;
    not_empty(typed, "expected a password")
}

/// Returns the first line of stdin, which must not be empty. `expected` names its content in the error.
pub fn first_line_of_stdin(expected: &str) -> BoardResult<String> {
    let line = line_of_stdin()?.trim_end_matches(['\r', '\n']).into();
    not_empty(line, &format!("expected {expected} on the first line of standard input"))
}

/// Returns whether missing values are asked for at the terminal.
pub fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Returns the given value, or else asks for `what` at the terminal.
pub fn given_or_asked(given: Option<String>, what: &str) -> BoardResult<String> {
    if let Some(given) = given {
        return Ok(given);
    }
    drop(write!(io::stderr(), "{what}: "));
    let line = line_of_stdin()?.trim().into();
    not_empty(line, &format!("expected {what}"))
}

fn line_of_stdin() -> BoardResult<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(BoardError::internal)?;
    Ok(line)
}

fn not_empty(line: String, reason: &str) -> BoardResult<String> {
    if line.is_empty() {
        return Err(BoardError::validation("stdin", reason));
    }
    Ok(line)
}

/// Generates a password of 120 random bits.
pub fn random_password() -> BoardResult<String> {
    let mut bytes = [0; 15];
    OsRandom.fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The option of destructive commands.
#[derive(Clone, Copy, Debug, Args)]
pub struct Confirm {
    /// Do not ask for confirmation; required if standard input is not a terminal
    #[arg(short, long)]
    yes: bool,
}

impl Confirm {
    /// Describes the command and asks for confirmation at the terminal. Does not ask with `--yes`.
    pub fn ask(self, what: &str) -> BoardResult<()> {
        if self.yes {
            return Ok(());
        }
        if !can_ask() {
            return Err(BoardError::conflict(format!("{what} Pass --yes to confirm.")));
        }
        drop(write!(io::stderr(), "{what} Continue? [y/N] "));
        if matches!(line_of_stdin()?.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
        Err(BoardError::conflict("not confirmed; nothing was changed"))
    }
}
