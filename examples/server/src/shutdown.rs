//! Shutdown: the signals that request it, the drain delay and the drain timeout.

use std::fs;
use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// A signal arrived, and the drain delay has not ended.
    Delayed,
    Stopping,
}

/// The request to stop; any number of tasks can wait for it.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: watch::Receiver<Phase>,
    drain_timeout: Duration,
}

impl Shutdown {
    /// Listens for SIGTERM, Ctrl-C and SIGHUP from now on. A SIGHUP that the process was started to ignore, such as by
    /// `nohup`, stays ignored. The process stops `drain_delay` after the first signal, or at the
    /// second one. Work in flight then has `drain_timeout` to end.
    ///
    /// # Errors
    /// If the process may not listen for signals.
    pub fn listen(drain_delay: Duration, drain_timeout: Duration) -> io::Result<Self> {
        let (sender, phase) = watch::channel(Phase::Running);
        let mut signals = StopSignals::listen()?;
        tokio::spawn(async move {
            let signal = signals.next().await;
            tracing::info!(signal, "stopping");
            sender.send_replace(Phase::Delayed);
            // The delay ends early at the second signal.
            let _ = timeout(drain_delay, signals.next()).await;
            sender.send_replace(Phase::Stopping);
        });
        Ok(Self { phase, drain_timeout })
    }

    /// Returns whether the process was asked to stop. It may still accept connections.
    pub fn is_requested(&self) -> bool {
        *self.phase.borrow() != Phase::Running
    }

    /// Runs a part of the start until the first signal. Returns `None`, and drops `part`, if the process is asked to stop
    /// before `part` completes.
    pub async fn unless_requested<T>(&self, part: impl Future<Output = T>) -> Option<T> {
        let mut phase = self.phase.clone();
        tokio::select! {
            result = part => Some(result),
            _ = phase.wait_for(|phase| *phase != Phase::Running) => None,
        }
    }

    /// Waits for the end of the drain delay.
    pub async fn wait_for_stop(mut self) {
        // An error means that the sender was dropped, which happens only after the last phase.
        let _ = self.phase.wait_for(|phase| *phase == Phase::Stopping).await;
    }

    /// Waits until `end` completes, up to the drain timeout. Logs a warning that names `what` if it does not.
    pub async fn drain(&self, what: &str, end: impl Future<Output = ()>) {
        if timeout(self.drain_timeout, end).await.is_err() {
            tracing::warn!("{what} aborted after the drain timeout");
        }
    }
}

/// The signals that stop the process.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` if the signal is ignored.
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Listens from now on: the signals no longer end the process.
    ///
    /// # Errors
    /// If the process may not listen for signals.
    pub fn listen() -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        let is_ignored = is_ignored(hangup);
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: (!is_ignored).then(|| signal(hangup)).transpose()?,
        })
    }

    /// Waits for a signal and returns its name.
    pub async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = hangup => "SIGHUP",
        }
    }
}

/// Returns whether the process ignores a signal. Reads the state from `/proc`: the system call needs unsafe code. Without
/// `/proc`, returns `false`.
fn is_ignored(signal: SignalKind) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = signal.as_raw_value() - 1;
    mask.is_some_and(|mask| mask >> bit & 1 == 1)
}
