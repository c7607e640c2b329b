//! Order of the writes of one process in the same thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync;

/// Number of threads from which unused entries are removed.
const MIN_PRUNED: usize = 1024;

/// Queues of the writes in each thread. Of the writes of one process in a thread, only one at a time waits for the lock of
/// the thread in Postgres, or holds it. A process that is lost or far away therefore delays the writes of other processes
/// in this thread by one transaction, and its waiting writes occupy no connections.
#[derive(Debug, Default)]
pub struct ThreadTurns(Mutex<HashMap<i64, Weak<sync::Mutex<()>>>>);

impl ThreadTurns {
    /// Returns the mutex that a write in this thread locks. Waiting writes lock it in the order of their arrival.
    pub fn of(&self, thread: i64) -> Arc<sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&thread).and_then(Weak::upgrade) {
            return turn;
        }
        if turns.len() >= MIN_PRUNED && turns.len() == turns.capacity() {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        turns.insert(thread, Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn writes_in_one_thread_wait_for_each_other() {
        let turns = ThreadTurns::default();
        let first = turns.of(1).lock_owned().await;
        assert!(turns.of(1).try_lock().is_err());
        assert!(turns.of(2).try_lock().is_ok());
        drop(first);
        assert!(turns.of(1).try_lock().is_ok());
    }

    #[test]
    fn unused_turns_are_removed() {
        let turns = ThreadTurns::default();
        let used = turns.of(0);
        (1..100_000).for_each(|thread| drop(turns.of(thread)));
        assert!(turns.0.lock().unwrap().len() < 4 * MIN_PRUNED);
        assert!(Arc::ptr_eq(&used, &turns.of(0)));
    }
}
