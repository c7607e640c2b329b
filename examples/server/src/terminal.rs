//! Input at the terminal without echo. Version 7.5 of `rpassword` shows its prompt before echo is off, and leaves echo off
//! when a signal other than that of Ctrl-C ends the process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;

/// Signals that end the process by default.
const END_SIGNALS: [SignalKind; 4] =
    [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()];

/// Writes a prompt to the terminal and reads a line, without its end. Echo is off before the prompt appears. If a
/// signal ends the process, echo is on again.
pub async fn read_hidden(prompt: String) -> io::Result<String> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let modes = tcgetattr(&terminal)?;
    for kind in END_SIGNALS {
        tokio::spawn(exit_on(signal(kind)?, kind, terminal.try_clone()?, modes.clone()));
    }
    spawn_blocking(move || {
        let mut hidden = HiddenInput::begin(&terminal, modes)?;
        write!(hidden.terminal, "{prompt}")?;
        let mut line = String::new();
        BufReader::new(hidden.terminal).read_line(&mut line)?;
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    })
    .await?
}

/// Echo of the terminal is off until this value is dropped.
struct HiddenInput<'a> {
    terminal: &'a File,
    modes: Termios,
}

impl<'a> HiddenInput<'a> {
    fn begin(terminal: &'a File, modes: Termios) -> io::Result<Self> {
        let mut hidden = modes.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(terminal, OptionalActions::Now, &hidden)?;
        Ok(Self { terminal, modes })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.modes);
    }
}

/// Waits for the signal, restores the terminal and ends the process. The status is the status of a shell: 128 and the
/// number of the signal.
async fn exit_on(mut signal: Signal, kind: SignalKind, terminal: File, modes: Termios) {
    if signal.recv().await.is_some() {
        let _ = tcsetattr(&terminal, OptionalActions::Now, &modes);
        process::exit(128 + kind.as_raw_value());
    }
}
