//! Threads with a name.

use std::thread::{Builder, JoinHandle};

use super::error::{Cause, Result};

/// Starts a thread.
///
/// # Errors
/// [`SqliteError`](super::SqliteError) if the system has no further thread.
pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = Builder::new().name(name.into()).spawn(work);
    thread.map_err(|error| Cause::Thread(error).into())
}
