//! Queues of sign-in attempts, by name. One attempt with a name is checked at a time.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forum_api::rate_limit::RateLimitKey;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of attempts with one name that are checked or wait. Each network has at most one of them, so that a
/// network does not exclude others.
const MAX_WAITING: usize = 32;

/// The queued attempts, by name. A name without an attempt uses no memory.
#[derive(Debug, Default)]
pub struct Turns(Mutex<HashMap<RateLimitKey, Waiting>>);

#[derive(Debug)]
struct Waiting {
    networks: HashSet<Option<IpAddr>>,
    turn: Arc<Semaphore>,
}

/// Permission to check an attempt. Dropping it permits the next attempt with the name.
#[derive(Debug)]
pub struct Turn {
    _place: QueuedName,
    _permit: OwnedSemaphorePermit,
}

/// A position in the queue of a name. Dropping it releases the position.
#[derive(Debug)]
struct QueuedName {
    turns: Arc<Turns>,
    name: RateLimitKey,
    network: Option<IpAddr>,
}

impl Turns {
    /// Waits until the attempt may be checked. Attempts with a name are checked in the order of their calls. Returns
    /// `None` if the queue of the name is full, or contains an attempt of the network.
    pub async fn wait(
        self: &Arc<Self>,
        name: RateLimitKey,
        network: Option<IpAddr>,
    ) -> Option<Turn> {
        let (place, turn) = self.join(name, network)?;
        let permit = turn.acquire_owned().await.ok()?;
        Some(Turn { _place: place, _permit: permit })
    }

    fn join(
        self: &Arc<Self>,
        name: RateLimitKey,
        network: Option<IpAddr>,
    ) -> Option<(QueuedName, Arc<Semaphore>)> {
        let mut names = self.names();
        let waiting = names.entry(name).or_insert_with(|| Waiting {
            networks: HashSet::new(),
            turn: Arc::new(Semaphore::new(1)),
        });
        if waiting.networks.len() >= MAX_WAITING || !waiting.networks.insert(network) {
            return None;
        }
        let place = QueuedName { turns: Arc::clone(self), name, network };
        Some((place, Arc::clone(&waiting.turn)))
    }

    fn names(&self) -> MutexGuard<'_, HashMap<RateLimitKey, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuedName {
    fn drop(&mut self) {
        let mut names = self.turns.names();
        if let Some(waiting) = names.get_mut(&self.name) {
            waiting.networks.remove(&self.network);
            if waiting.networks.is_empty() {
                names.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn network(number: u8) -> Option<IpAddr> {
        Some([192, number, 0, 0].into())
    }

    #[tokio::test]
    async fn a_name_has_one_turn_at_a_time_and_a_network_one_place() {
        let turns = Arc::new(Turns::default());
        let [name, other] =
            ["a", "b"].map(|name| RateLimitKey::password_attempts("", name.as_bytes()));
        let mut first = Some(turns.wait(name, network(0)).await.unwrap());
        assert!(turns.wait(name, network(0)).await.is_none());
        assert!(turns.wait(other, network(0)).await.is_some());
        let mut waiting: Vec<_> =
            (1..32).map(|number| Box::pin(turns.wait(name, network(number)))).collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        assert!(turns.wait(name, None).await.is_none(), "the queue is full");
        // A client that leaves frees its place.
        drop(waiting.remove(5));
        let mut last = Box::pin(turns.wait(name, None));
        assert!(last.as_mut().now_or_never().is_none());
        waiting.push(last);
        for mut next in waiting {
            drop(first.take());
            first = next.as_mut().now_or_never().unwrap();
            assert!(first.is_some(), "in the order of the calls");
        }
        drop(first);
        assert!(turns.names().is_empty());
    }
}
