//! Queue of password checks: in the order of the attempts, a few at a time. The attempts with a name that is being guessed
//! are checked one at a time, and those of a network with a pause after a failure.
//!
//! A network cannot exclude others: when the queue is full, the network with the most waiting attempts loses its newest
//! attempt. If several networks have the same number, the removed attempt is one whose guessed name, and then whose
//! provider, has the most.

use std::collections::HashMap;
use std::future::pending;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forum_api::IpNet;
use forum_api::rate_limit::RateLimitKey;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

/// Maximum number of waiting attempts. All of them are checked one at a time within [`MAX_WAIT`] if a check takes less
/// than 0.15 s.
const MAX_WAITING: usize = 64;

/// Time after which an attempt that was not checked is refused.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Pause of a network after a failed attempt with a name that is being guessed.
const PAUSE: Duration = Duration::from_secs(1);

/// Length of the address of a network in bits, for IPv4 and IPv6.
const NETWORK_LEN: (u8, u8) = (16, 48);

/// Length of the common beginning of the addresses of a provider's networks in bits, for IPv4 and IPv6.
const PROVIDER_LEN: (u8, u8) = (8, 32);

/// Origin of attempts that have a share of the queue together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A network; `None` if no address is known.
    Network(Option<IpAddr>),
    /// A browser that has signed in with the name before.
    Device(RateLimitKey),
}

impl Source {
    /// Returns the network of a client.
    pub fn of_client(client: Option<IpAddr>) -> Self {
        Self::Network(client.map(|client| prefix(client, NETWORK_LEN)))
    }

    /// Returns the origin of attempts from all networks of a provider.
    fn provider(self) -> Self {
        match self {
            Self::Network(network) => {
                Self::Network(network.map(|network| prefix(network, PROVIDER_LEN)))
            }
            Self::Device(_) => self,
        }
    }
}

/// Returns the first bits of an address, with all further bits zero. `lengths` are the numbers of first bits for IPv4
/// and IPv6.
fn prefix(address: IpAddr, lengths: (u8, u8)) -> IpAddr {
    let length = match address {
        IpAddr::V4(_) => lengths.0,
        IpAddr::V6(_) => lengths.1,
    };
    IpNet::new(address, length).map_or(address, |net| net.network())
}

/// The waiting and the running checks.
#[derive(Debug)]
pub struct CheckQueue {
    max_running: usize,
    state: Mutex<State>,
    /// Notified when another attempt may be checked.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    next_number: u64,
    /// In the order of arrival.
    waiting: Vec<Entry>,
    running: Vec<Entry>,
    /// Ends of the pauses after failures, by guessed name and source.
    pauses: HashMap<(RateLimitKey, Source), Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    source: Source,
    guessed_name: Option<RateLimitKey>,
}

/// Result of a look at the queue.
enum Progress {
    Begun,
    /// Another attempt has taken the place.
    Displaced,
    /// The attempt waits for a change, or for the end of the pause of its source.
    Waiting(Option<Instant>),
}

/// A place in the queue, and the permission to check the attempt once its turn has come. Dropping it frees the place.
#[derive(Debug)]
pub struct Turn {
    queue: Arc<CheckQueue>,
    entry: Entry,
}

impl CheckQueue {
    /// Creates a queue of which `max_running` attempts are checked at a time.
    pub fn new(max_running: usize) -> Arc<Self> {
        Arc::new(Self { max_running, state: Mutex::default(), changed: Notify::new() })
    }

    /// Waits until the attempt may be checked. `guessed_name` is the name of the attempt if it is being guessed. Returns
    /// `None` if the queue is full, or after [`MAX_WAIT`].
    pub async fn turn(
        self: &Arc<Self>,
        source: Source,
        guessed_name: Option<RateLimitKey>,
    ) -> Option<Turn> {
        let entry = self.state().join(source, guessed_name)?;
        self.changed.notify_waiters();
        let turn = Turn { queue: Arc::clone(self), entry };
        let has_begun = timeout(MAX_WAIT, turn.begin()).await.ok()?;
        has_begun.then_some(turn)
    }

    /// Returns the number of waiting attempts.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds an attempt. If the queue is full, removes an attempt of the source with the most attempts. Among several
    /// such attempts, removes one whose guessed name has the most attempts, then one whose provider has the most, then
    /// the newest. Returns `None` if the removed attempt is the new one.
    fn join(&mut self, source: Source, guessed_name: Option<RateLimitKey>) -> Option<Entry> {
        let entry = Entry { number: self.next_number, source, guessed_name };
        self.next_number += 1;
        self.waiting.push(entry);
        if self.waiting.len() > MAX_WAITING {
            let by_source = counts(self.waiting.iter().map(|one| one.source));
            let by_name = counts(self.waiting.iter().filter_map(|one| one.guessed_name));
            let by_provider = counts(self.waiting.iter().map(|one| one.source.provider()));
            let share = |one: &Entry| {
                let of_name = one.guessed_name.and_then(|name| by_name.get(&name));
                let of_provider = by_provider.get(&one.source.provider());
                (by_source.get(&one.source), of_name, of_provider, one.number)
            };
            let removed = self.waiting.iter().max_by_key(|one| share(one))?.number;
            self.waiting.retain(|one| one.number != removed);
            if removed == entry.number {
                return None;
            }
        }
        Some(entry)
    }

    /// Begins to check the attempt if no earlier one can be checked.
    fn begin(&mut self, entry: &Entry, max_running: usize, now: Instant) -> Progress {
        self.pauses.retain(|_, ends_at| *ends_at > now);
        let Some(position) = self.waiting.iter().position(|one| one.number == entry.number) else {
            return Progress::Displaced;
        };
        let first = self.waiting.iter().position(|one| self.can_begin(one, max_running));
        if first != Some(position) {
            return Progress::Waiting(self.pause_of(entry));
        }
        self.waiting.remove(position);
        self.running.push(*entry);
        Progress::Begun
    }

    fn can_begin(&self, entry: &Entry, max_running: usize) -> bool {
        let is_running = |name| self.running.iter().any(|one| one.guessed_name == Some(name));
        self.running.len() < max_running
            && !entry.guessed_name.is_some_and(is_running)
            && self.pause_of(entry).is_none()
    }

    fn pause_of(&self, entry: &Entry) -> Option<Instant> {
        self.pauses.get(&(entry.guessed_name?, entry.source)).copied()
    }
}

fn counts<T: Eq + Hash>(values: impl Iterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

impl Turn {
    /// Waits for the turn; `false` if another attempt has taken the place.
    async fn begin(&self) -> bool {
        loop {
            let changed = self.queue.changed.notified();
            let max_running = self.queue.max_running;
            let progress = self.queue.state().begin(&self.entry, max_running, Instant::now());
            let pause = match progress {
                Progress::Begun => {
                    self.queue.changed.notify_waiters();
                    return true;
                }
                Progress::Displaced => return false,
                Progress::Waiting(pause) => pause,
            };
            let pause_end = async {
                match pause {
                    Some(ends_at) => sleep_until(ends_at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = pause_end => {}
            }
        }
    }

    /// Ends the turn of an attempt that failed.
    pub fn fail(self) {
        if let Some(name) = self.entry.guessed_name {
            let ends_at = Instant::now() + PAUSE;
            self.queue.state().pauses.insert((name, self.entry.source), ends_at);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let is_other = |one: &Entry| one.number != self.entry.number;
        let mut state = self.queue.state();
        state.waiting.retain(is_other);
        state.running.retain(is_other);
        drop(state);
        self.queue.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    fn network(number: u8) -> Source {
        Source::Network(Some([192, number, 0, 0].into()))
    }

    fn name(text: &str) -> Option<RateLimitKey> {
        Some(RateLimitKey::password_attempts("", text.as_bytes()))
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_with_a_guessed_name_are_checked_one_at_a_time_in_their_order() {
        let queue = CheckQueue::new(4);
        let first = queue.turn(network(0), name("a")).await.unwrap();
        assert!(
            queue.turn(network(0), name("b")).now_or_never().unwrap().is_some(),
            "another name"
        );
        assert!(queue.turn(network(0), None).now_or_never().unwrap().is_some(), "not guessed");
        let mut waiting: Vec<_> =
            [0, 1, 1, 2].map(|number| Box::pin(queue.turn(network(number), name("a")))).into();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        // A client that leaves frees its place.
        drop(waiting.remove(1));
        let mut turn = first;
        for mut next in waiting {
            assert!(next.as_mut().now_or_never().is_none());
            drop(turn);
            turn = next.await.unwrap();
        }
        drop(turn);
        let state = queue.state();
        assert!(state.waiting.is_empty() && state.running.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_pauses_for_a_second_after_a_failure_and_others_do_not() {
        let queue = CheckQueue::new(4);
        queue.turn(network(0), name("a")).await.unwrap().fail();
        let mut paused = Box::pin(queue.turn(network(0), name("a")));
        assert!(paused.as_mut().now_or_never().is_none());
        for (source, name) in [(network(1), name("a")), (network(0), name("b"))] {
            assert!(queue.turn(source, name).now_or_never().unwrap().is_some());
        }
        advance(Duration::from_millis(999)).await;
        assert!(paused.as_mut().now_or_never().is_none(), "after 999 ms");
        advance(Duration::from_millis(1)).await;
        assert!(paused.as_mut().now_or_never().unwrap().is_some(), "after 1 s");
        queue
            .turn(network(0), name("a"))
            .now_or_never()
            .unwrap()
            .expect("no pause after a success");
        assert!(queue.state().pauses.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_attempt_begins_as_soon_as_the_first_one_has_begun() {
        let queue = CheckQueue::new(2);
        let held = [
            queue.turn(network(0), None).await.unwrap(),
            queue.turn(network(0), None).await.unwrap(),
        ];
        let mut first = Box::pin(queue.turn(network(1), None));
        let mut second = Box::pin(queue.turn(network(2), None));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        drop(held);
        assert!(second.as_mut().now_or_never().is_none(), "not before the first one");
        let begun = first.now_or_never().unwrap();
        assert!(begun.is_some());
        assert!(second.now_or_never().unwrap().is_some());
    }

    #[test]
    fn a_source_is_the_network_of_a_client_and_has_a_provider() {
        for addresses in [
            ["192.168.3.4", "192.168.0.0", "192.0.0.0"],
            ["2001:db8:1:2::3", "2001:db8:1::", "2001:db8::"],
        ] {
            let [client, network, provider] =
                addresses.map(|address| Some(address.parse::<IpAddr>().unwrap()));
            let source = Source::of_client(client);
            assert_eq!(source, Source::Network(network));
            assert_eq!(source.provider(), Source::Network(provider));
        }
        let unknown = Source::of_client(None);
        assert_eq!([unknown, unknown.provider()], [Source::Network(None); 2]);
        let device = Source::Device(name("a").unwrap());
        assert_eq!(device.provider(), device);
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_waits_for_ten_seconds_is_refused() {
        let queue = CheckQueue::new(1);
        let held = queue.turn(network(0), None).await.unwrap();
        let begun = Instant::now();
        assert!(queue.turn(network(1), None).await.is_none());
        assert_eq!(begun.elapsed(), Duration::from_secs(10));
        assert!(queue.state().waiting.is_empty());
        drop(held);
        assert!(queue.turn(network(1), None).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_largest_network_loses_its_newest_attempt_when_the_queue_is_full() {
        let queue = CheckQueue::new(1);
        let _held = queue.turn(network(0), None).await.unwrap();
        let mut large: Vec<_> =
            (0..40).map(|_| Box::pin(queue.turn(network(1), name("a")))).collect();
        let mut others: Vec<_> =
            (0..24).map(|number| Box::pin(queue.turn(network(2 + number), name("a")))).collect();
        for one in large.iter_mut().chain(&mut others) {
            assert!(one.as_mut().now_or_never().is_none());
        }
        assert!(queue.turn(network(1), name("a")).now_or_never().unwrap().is_none());
        let mut new = Box::pin(queue.turn(network(100), name("a")));
        assert!(new.as_mut().now_or_never().is_none());
        assert!(large.pop().unwrap().now_or_never().unwrap().is_none(), "displaced at once");
        for number in 0..38 {
            others.push(Box::pin(queue.turn(network(101 + number), name("a"))));
            assert!(others.last_mut().unwrap().as_mut().now_or_never().is_none());
        }
        // Each network has one attempt. One with another name displaces one of the guessed name.
        assert!(queue.turn(network(200), name("a")).now_or_never().unwrap().is_none());
        let mut other_name = Box::pin(queue.turn(network(201), None));
        assert!(other_name.as_mut().now_or_never().is_none());
        assert_eq!(queue.state().waiting.len(), MAX_WAITING);
    }

    #[tokio::test(start_paused = true)]
    async fn the_networks_of_one_provider_do_not_exclude_a_network_of_another() {
        let queue = CheckQueue::new(1);
        let _held = queue.turn(network(0), None).await.unwrap();
        let source_of = |address: String| Source::of_client(Some(address.parse().unwrap()));
        let mut waiting: Vec<_> = (0..MAX_WAITING)
            .map(|number| source_of(format!("2001:db8:{number:x}::1")))
            .map(|source| Box::pin(queue.turn(source, name("a"))))
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        let same_provider = source_of("2001:db8:ffff::1".into());
        assert!(queue.turn(same_provider, name("a")).now_or_never().unwrap().is_none());
        let other_provider = source_of("2001:db9::1".into());
        let mut other = Box::pin(queue.turn(other_provider, name("a")));
        assert!(other.as_mut().now_or_never().is_none());
        assert!(waiting.pop().unwrap().now_or_never().unwrap().is_none(), "displaced at once");
    }
}
