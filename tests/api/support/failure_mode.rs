//! Failures of the test board.

use forum_api::host::OverloadedError;
use tokio::sync::Semaphore;

use super::*;

/// Behaviour of every command of the board, or of a look-up before it.
#[derive(Clone, Default)]
pub(crate) enum FailureMode {
    #[default]
    None,
    /// Returns content that the caller may not see.
    Leak,
    Panic,
    /// Never completes.
    Hang,
    /// Waits at a checkpoint.
    Wait(Arc<Checkpoint>),
    /// Returns an error.
    Error(fn() -> BoardError),
    /// This method of the authorizer or of the board returns an error, before the command.
    LookUp(&'static str),
}

pub(crate) const OVERLOADED: OverloadedError = OverloadedError::new(Duration::from_secs(7));

/// Errors that the rules of a board raise, with their statuses.
#[rustfmt::skip]
pub(crate) const DOMAIN_ERRORS: [(fn() -> BoardError, u16); 5] = [
    (|| BoardError::forbidden("No."), 403),
    (|| BoardError::not_found("No."), 404),
    (|| BoardError::conflict("No."), 409),
    (|| BoardError::validation("body", "No."), 422),
    (|| BoardError::rate_limited("No."), 429),
];

/// A point in a command at which it waits for the test.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    reached: Semaphore,
    released: Semaphore,
}

impl Checkpoint {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { reached: Semaphore::new(0), released: Semaphore::new(0) })
    }

    /// Called by the command.
    pub(crate) async fn wait(&self) {
        self.reached.add_permits(1);
        self.released.acquire().await.unwrap().forget();
    }

    /// Waits until one more command waits here.
    pub(crate) async fn reached(&self) {
        let permit = within_ten_seconds(self.reached.acquire()).await;
        permit.unwrap().forget();
    }

    /// Releases one command.
    pub(crate) fn release(&self) {
        self.released.add_permits(1);
    }
}
