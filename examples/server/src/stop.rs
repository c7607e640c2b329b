//! When to stop, and how long that may take.

use std::io;
use std::time::Duration;

use tokio::signal;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long what is in flight may take when the process is told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// Becomes ready when the process is told to stop; any number of tasks may wait for it.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<()>);

impl Stop {
    /// Listens for SIGTERM and Ctrl-C from now on.
    ///
    /// # Errors
    /// When the process may not listen for signals.
    pub fn listen() -> io::Result<Self> {
        let (stopped, stop) = watch::channel(());
        let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
        let mut interrupt = signal::unix::signal(signal::unix::SignalKind::interrupt())?;
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            drop(stopped);
        });
        Ok(Self(stop))
    }

    /// Waits until then.
    pub async fn told(mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

/// Waits for the end of `what` is in flight; after 10 s it is cut off.
pub async fn patiently(what: &str, end: impl Future<Output = ()>) {
    if timeout(PATIENCE, end).await.is_err() {
        tracing::warn!("{what} were cut off that took longer than 10 s to finish");
    }
}
