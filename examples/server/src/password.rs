//! Reads and generates passwords.

use std::io::{self, BufRead, IsTerminal};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::host::{Refusal, Result};
use forum_api::runtime::{Entropy, SystemEntropy};

/// Returns the first line of standard input if `from_stdin` is set, and otherwise asks for `what` at the terminal,
/// without echo. Without a terminal, the option `--password-stdin` is required.
pub fn read(what: &str, from_stdin: bool) -> Result<String> {
    if from_stdin {
        return self::from_stdin();
    }
    if !io::stdin().is_terminal() {
        let reason = "standard input is not a terminal: add --password-stdin, and write the password to its first line";
        return Err(Refusal::invalid("password", reason));
    }
    let password = rpassword::prompt_password(format!("{what}: ")).map_err(Refusal::failed)?;
    present(password, "expected a password")
}

/// Returns the first line of standard input.
pub fn from_stdin() -> Result<String> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(Refusal::failed)?;
    let password = line.trim_end_matches(['\r', '\n']).into();
    present(password, "expected a password on standard input")
}

fn present(password: String, otherwise: &str) -> Result<String> {
    if password.is_empty() {
        return Err(Refusal::invalid("password", otherwise));
    }
    Ok(password)
}

/// A new one that nobody can guess.
pub fn random() -> Result<String> {
    let mut bytes = [0; 15];
    SystemEntropy.fill(&mut bytes).map_err(Refusal::failed)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
