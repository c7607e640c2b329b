//! How the test board behaves: well, or in one of the ways that a host can be at fault.

use std::sync::Arc;

use forum_api::host::BoardError;
use tokio::sync::Semaphore;

use super::soon;

/// How every command of the board behaves.
#[derive(Clone, Default)]
pub(crate) enum Mood {
    #[default]
    Well,
    /// Answers what the caller may not see.
    Leaks,
    Panics,
    Hangs,
    /// Waits in the middle of its work.
    Waits(Arc<Gate>),
    Refuses(fn() -> BoardError),
}

/// A gate in the middle of a command.
#[derive(Debug)]
pub(crate) struct Gate {
    arrived: Semaphore,
    open: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            arrived: Semaphore::new(0),
            open: Semaphore::new(0),
        })
    }

    /// What the command does: says that it is there, and waits.
    pub(crate) async fn pass(&self) {
        self.arrived.add_permits(1);
        self.open.acquire().await.unwrap().forget();
    }

    /// Ready when one more command waits at the gate.
    pub(crate) async fn reached(&self) {
        soon(self.arrived.acquire()).await.unwrap().forget();
    }

    /// Lets one command go on.
    pub(crate) fn let_one_pass(&self) {
        self.open.add_permits(1);
    }
}
