//! Shutdown: the signals that request it, and the drain timeout.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

/// The request to stop; any number of tasks can wait for it.
#[derive(Clone, Debug)]
pub struct Shutdown {
    signal: watch::Receiver<()>,
    drain_timeout: Duration,
}

impl Shutdown {
    /// Listens for SIGTERM and Ctrl-C from now on. Work in flight then has `drain_timeout` to end.
    ///
    /// # Errors
    /// If the process may not listen for signals.
    pub fn listen(drain_timeout: Duration) -> io::Result<Self> {
        let (sender, receiver) = watch::channel(());
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            let signal = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            tracing::info!(signal, "stopping");
            drop(sender);
        });
        Ok(Self {
            signal: receiver,
            drain_timeout,
        })
    }

    /// Waits for the request to stop.
    pub async fn requested(mut self) {
        while self.signal.changed().await.is_ok() {}
    }

    /// Waits until `end` completes, up to the drain timeout. Logs a warning that names `what` if it does not.
    pub async fn drain(&self, what: &str, end: impl Future<Output = ()>) {
        if timeout(self.drain_timeout, end).await.is_err() {
            tracing::warn!("{what} aborted after the drain timeout");
        }
    }
}
