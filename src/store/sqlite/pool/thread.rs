//! Threads with a name.

use std::thread::{Builder, JoinHandle};

use super::SqliteError;
use super::error::Cause;

/// Starts a thread.
///
/// # Errors
/// [`SqliteError`] if the system has no further thread.
pub(super) fn start(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, SqliteError> {
    let thread = Builder::new().name(name.into()).spawn(work);
    thread.map_err(|error| Cause::Thread(error).into())
}
