//! Shutdown: the signals that request it, and the drain timeout.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

/// Time for work in flight after the request to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The request to stop; any number of tasks can wait for it.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<()>);

impl Shutdown {
    /// Listens for SIGTERM and Ctrl-C from now on.
    ///
    /// # Errors
    /// If the process may not listen for signals.
    pub fn listen() -> io::Result<Self> {
        let (sender, receiver) = watch::channel(());
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            drop(sender);
        });
        Ok(Self(receiver))
    }

    /// Waits for the request to stop.
    pub async fn requested(mut self) {
        while self.0.changed().await.is_ok() {}
    }

    /// Waits up to 10 s until `end` completes. Logs a warning that names `what` if it does not.
    pub async fn drain(what: &str, end: impl Future<Output = ()>) {
        if timeout(DRAIN_TIMEOUT, end).await.is_err() {
            tracing::warn!("{what} aborted after the 10 s drain timeout");
        }
    }
}
