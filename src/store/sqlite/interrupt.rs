//! Interrupts reads whose caller has dropped its future.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Arc, Weak};

use rusqlite::Connection;

/// Steps of SQLite's virtual machine between two checks: some tens of microseconds.
const STEPS: c_int = 1000;

thread_local! {
    /// The caller of the operation that runs on this thread, if the operation can be interrupted.
    static CALLER: RefCell<Option<Weak<()>>> = const { RefCell::new(None) };
}

/// Held by the future of the caller.
pub(super) type Interest = Arc<()>;

/// Observes whether the caller still waits.
#[derive(Debug)]
pub(super) struct Caller(Weak<()>);

/// Makes operations on the current thread interruptible until it is dropped.
#[derive(Debug)]
pub(super) struct Interruptible(());

impl Caller {
    pub(super) fn of(interest: &Interest) -> Self {
        Self(Arc::downgrade(interest))
    }

    /// Returns `None` when the caller no longer waits.
    pub(super) fn enter(self) -> Option<Interruptible> {
        if self.0.strong_count() == 0 {
            return None;
        }
        CALLER.set(Some(self.0));
        Some(Interruptible(()))
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        CALLER.set(None);
    }
}

/// Lets SQLite check for the caller while a statement runs.
pub(super) fn install(connection: &mut Connection) {
    // Versions of rusqlite differ in whether it can fail; without the handler statements run to completion.
    let _ = connection.progress_handler(STEPS, Some(is_abandoned));
}

fn is_abandoned() -> bool {
    let is_gone = |caller: &Weak<()>| caller.strong_count() == 0;
    CALLER.with_borrow(|caller| caller.as_ref().is_some_and(is_gone))
}
