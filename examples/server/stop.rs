//! When to stop.

use std::io;

use tokio::signal;
use tokio::sync::watch;

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
