//! Name resolution: the trait, and the system's resolver on the blocking thread pool.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;

use crate::lock::lock;

/// Resolves host names.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Resolves a name to its addresses, in the order in which to try them.
    ///
    /// # Errors
    /// Fails if the name does not exist, or no name server responds. If the name of an endpoint does not resolve, the
    /// attempt fails and the delivery is retried.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

impl_for_pointers!(Resolver {
    async fn resolve(name: &str) -> io::Result<Vec<IpAddr>>;
});

/// Largest number of threads that look up names. Tokio's blocking pool has 512 threads by default; the others stay free for
/// the host's own blocking work, such as hashing passwords.
const THREADS: usize = 64;

/// Duration from which on a look-up is slow.
const SLOW_AFTER: Duration = Duration::from_secs(1);

/// Largest number of names that count as slow.
const MAX_SLOW_NAMES: usize = 10_000;

static LOOKUPS: LazyLock<Arc<Lookups>> =
    LazyLock::new(|| Arc::new(Lookups::new(THREADS, SLOW_AFTER)));

/// The system's resolver. It needs a tokio runtime, and all instances together use at most 64 threads of its blocking pool.
/// Names whose last look-up took a second or longer, for example because no name server responds, use at most half of the
/// threads. Concurrent calls for one name share one look-up. Results are not cached.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let look_up = |name: &str| {
            let sockets = (name, 0).to_socket_addrs()?;
            Ok(sockets.map(|socket| socket.ip()).collect())
        };
        LOOKUPS.resolve(name, look_up).await
    }
}

/// A result that several callers share. Only the kind of an error is kept, because errors cannot be cloned.
type SharedResult = Result<Vec<IpAddr>, io::ErrorKind>;

type ResultReceiver = watch::Receiver<Option<SharedResult>>;

/// Look-ups in progress. Callers that resolve the same name share one look-up.
///
/// A look-up cannot be cancelled: it occupies its thread until the system's resolver returns, even if all callers have
/// stopped waiting. Because callers share look-ups, a name whose servers do not respond occupies only one thread. All names
/// whose last look-up was slow together occupy at most half of the threads, so that they do not delay other names.
struct Lookups {
    running: Mutex<HashMap<String, ResultReceiver>>,
    threads: Arc<Semaphore>,
    slow_threads: Arc<Semaphore>,
    /// Names whose last look-up was slow.
    slow_names: Mutex<HashSet<String>>,
    slow_after: Duration,
}

impl Lookups {
    /// Limits concurrent look-ups to `threads`. A look-up of at least `slow_after` is slow.
    fn new(threads: usize, slow_after: Duration) -> Self {
        Self {
            running: Mutex::default(),
            threads: Arc::new(Semaphore::new(threads)),
            slow_threads: Arc::new(Semaphore::new(threads.div_ceil(2))),
            slow_names: Mutex::default(),
            slow_after,
        }
    }

    /// Resolves a name with `look_up`, or waits for the look-up of this name that is in progress.
    async fn resolve(
        self: &Arc<Self>,
        name: &str,
        look_up: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> io::Result<Vec<IpAddr>> {
        let mut running = self.join(name, look_up);
        let result = running.wait_for(Option::is_some).await;
        // The sender is dropped without a result when the runtime stops.
        let addresses = result.ok().and_then(|result| result.clone());
        addresses.unwrap_or(Err(io::ErrorKind::Interrupted)).map_err(io::Error::from)
    }

    fn join(
        self: &Arc<Self>,
        name: &str,
        look_up: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> ResultReceiver {
        let mut running = lock(&self.running);
        // A look-up that panicked has dropped its sender.
        let joined = running.get(name).filter(|receiver| receiver.has_changed().is_ok());
        if let Some(receiver) = joined {
            return receiver.clone();
        }
        let (sender, receiver) = watch::channel(None);
        running.insert(name.into(), receiver.clone());
        drop(running);
        let lookups = Arc::clone(self);
        let name = name.to_owned();
        tokio::spawn(async move {
            let is_slow = lock(&lookups.slow_names).contains(&name);
            let slow_permit = if is_slow {
                Some(Arc::clone(&lookups.slow_threads).acquire_owned().await)
            } else {
                None
            };
            let permit = Arc::clone(&lookups.threads).acquire_owned().await;
            _ = spawn_blocking(move || {
                let began = Instant::now();
                let result = look_up(&name).map_err(|error| {
                    tracing::debug!(name, %error, "look-up failed");
                    error.kind()
                });
                lookups.record_duration(&name, began.elapsed());
                lock(&lookups.running).remove(&name);
                sender.send_replace(Some(result));
                drop((permit, slow_permit));
            })
            .await;
        });
        receiver
    }

    fn record_duration(&self, name: &str, duration: Duration) {
        let mut slow_names = lock(&self.slow_names);
        if duration < self.slow_after {
            slow_names.remove(name);
        } else {
            if slow_names.len() == MAX_SLOW_NAMES {
                // Names that are no longer resolved stay until then.
                slow_names.clear();
            }
            slow_names.insert(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use tokio::task::{JoinHandle, yield_now};

    use super::{Lookups, lock};

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));

    /// A look-up that reports its start and waits for a message.
    fn start(
        lookups: &Arc<Lookups>,
        name: &'static str,
        started: &Sender<&'static str>,
    ) -> (Sender<()>, JoinHandle<io::Result<Vec<IpAddr>>>) {
        let (end, ended): (Sender<()>, Receiver<()>) = channel();
        let lookups = Arc::clone(lookups);
        let started = started.clone();
        let resolved = tokio::spawn(async move {
            let look_up = move |_: &str| {
                started.send(name).unwrap();
                ended.recv().map_err(io::Error::other)?;
                Ok(vec![ADDRESS])
            };
            lookups.resolve(name, look_up).await
        });
        (end, resolved)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_look_ups_are_limited_to_the_number_of_threads() {
        let lookups = Arc::new(Lookups::new(2, Duration::MAX));
        let (report, started) = channel();
        let (end_a, a) = start(&lookups, "a", &report);
        assert_eq!(started.recv().unwrap(), "a");
        let (end_b, b) = start(&lookups, "b", &report);
        assert_eq!(started.recv().unwrap(), "b");
        let (end_c, c) = start(&lookups, "c", &report);
        while lock(&lookups.running).len() < 3 {
            yield_now().await;
        }
        // A caller that stops waiting does not free the thread.
        a.abort();
        assert!(a.await.is_err());
        assert_eq!(lookups.threads.available_permits(), 0);
        assert!(started.try_recv().is_err());
        end_a.send(()).unwrap();
        assert_eq!(started.recv().unwrap(), "c");
        for (end, resolved) in [(end_b, b), (end_c, c)] {
            end.send(()).unwrap();
            assert_eq!(resolved.await.unwrap().unwrap(), [ADDRESS]);
        }
        assert!(lock(&lookups.running).is_empty());
    }

    /// All look-ups count as slow.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn slow_names_occupy_at_most_half_of_the_threads() {
        let lookups = Arc::new(Lookups::new(2, Duration::ZERO));
        let (report, started) = channel();
        for name in ["a", "b"] {
            let (end, resolved) = start(&lookups, name, &report);
            assert_eq!(started.recv().unwrap(), name);
            end.send(()).unwrap();
            assert_eq!(resolved.await.unwrap().unwrap(), [ADDRESS]);
        }
        let (end_a, a) = start(&lookups, "a", &report);
        assert_eq!(started.recv().unwrap(), "a");
        let (end_b, b) = start(&lookups, "b", &report);
        while lock(&lookups.running).len() < 2 {
            yield_now().await;
        }
        let (end_c, c) = start(&lookups, "c", &report);
        assert_eq!(started.recv().unwrap(), "c");
        end_a.send(()).unwrap();
        assert_eq!(started.recv().unwrap(), "b");
        for (end, resolved) in [(end_b, b), (end_c, c)] {
            end.send(()).unwrap();
            assert_eq!(resolved.await.unwrap().unwrap(), [ADDRESS]);
        }
        assert_eq!(a.await.unwrap().unwrap(), [ADDRESS]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_callers_of_one_name_share_a_look_up() {
        let lookups = Arc::new(Lookups::new(8, Duration::MAX));
        let (report, started) = channel();
        let (end, first) = start(&lookups, "a", &report);
        started.recv().unwrap();
        let no_look_up = |_: &str| -> io::Result<Vec<IpAddr>> { panic!("the name is looked up") };
        let other = lookups.join("a", no_look_up);
        end.send(()).unwrap();
        assert_eq!(first.await.unwrap().unwrap(), [ADDRESS]);
        assert_eq!(*other.borrow(), Some(Ok(vec![ADDRESS])));
        let (end, again) = start(&lookups, "a", &report);
        started.recv().unwrap();
        drop(end);
        assert!(again.await.unwrap().is_err(), "an error is passed on");
        assert!(lock(&lookups.running).is_empty());
    }
}
