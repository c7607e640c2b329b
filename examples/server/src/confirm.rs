//! Asks for confirmation before a destructive command runs.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use forum_api::host::{Refusal, Result};

/// The option of destructive commands.
#[derive(Clone, Copy, Debug, Args)]
pub struct Confirm {
    /// Do not ask for confirmation; required if standard input is not a terminal
    #[arg(long)]
    yes: bool,
}

impl Confirm {
    /// Says what the command does and asks at the terminal whether to continue. Returns at once with `--yes`.
    pub fn ask(self, what: &str) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            return Err(Refusal::Conflict(format!("{what} Add --yes to confirm.")));
        }
        drop(write!(io::stderr(), "{what} Continue? [y/N] "));
        let mut answer = String::new();
        io::stdin()
            .lock()
            .read_line(&mut answer)
            .map_err(Refusal::failed)?;
        let confirmed = matches!(answer.trim(), "y" | "Y" | "yes");
        confirmed
            .then_some(())
            .ok_or_else(|| Refusal::Conflict("not confirmed: nothing was changed".into()))
    }
}
