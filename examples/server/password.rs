//! Passwords on the way in.

use std::io::{self, BufRead};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::clock::{Entropy, SystemEntropy};
use forum_api::host::{Refusal, Result};

/// The first line of standard input.
pub fn from_stdin() -> Result<String> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(Refusal::failed)?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Refusal::invalid(
            "password",
            "expected a password on standard input",
        ));
    }
    Ok(password.into())
}

/// A new one that nobody can guess.
pub fn random() -> Result<String> {
    let mut bytes = [0; 15];
    SystemEntropy.fill(&mut bytes).map_err(Refusal::failed)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
