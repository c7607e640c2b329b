//! Shutdown: the signals that request it, the drain delay and the drain timeout.

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
    /// Listens for SIGTERM and Ctrl-C from now on. The process stops `drain_delay` after the first signal, or at the
    /// second one. Work in flight then has `drain_timeout` to end.
    ///
    /// # Errors
    /// If the process may not listen for signals.
    pub fn listen(drain_delay: Duration, drain_timeout: Duration) -> io::Result<Self> {
        let (sender, phase) = watch::channel(Phase::Running);
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            let signal = next(&mut terminate, &mut interrupt).await;
            tracing::info!(signal, "stopping");
            sender.send_replace(Phase::Delayed);
            // The delay ends early at the second signal.
            let _ = timeout(drain_delay, next(&mut terminate, &mut interrupt)).await;
            sender.send_replace(Phase::Stopping);
        });
        Ok(Self { phase, drain_timeout })
    }

    /// Returns whether the process was asked to stop. It may still accept connections.
    pub fn is_requested(&self) -> bool {
        *self.phase.borrow() != Phase::Running
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

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
