//! Name resolution: the trait, and the system's resolver on the threads of the blocking pool.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;

/// Resolves host names.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name, in the order in which to try them.
    ///
    /// # Errors
    /// When the name does not exist, or no name server answers.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Number of threads that look up names, of the 512 that tokio's blocking pool has by default: a host's own blocking work,
/// such as hashing passwords, keeps the rest.
const THREADS: usize = 64;

static LOOKUPS: LazyLock<Arc<Lookups>> = LazyLock::new(|| Arc::new(Lookups::new(THREADS)));

/// The system's resolver. It needs a tokio runtime and uses at most 64 threads of its blocking pool, for all instances
/// together. Calls for one name at the same time share one look-up; results are not cached.
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

/// A result that several callers receive. Of an error its kind is kept.
type Found = Result<Vec<IpAddr>, io::ErrorKind>;

type Running = watch::Receiver<Option<Found>>;

/// Look-ups in progress. A caller that asks for a name that is being looked up waits for the same result; no result is
/// kept after that.
///
/// A look-up cannot be cancelled: it occupies its thread until the system's resolver returns, also when every caller has
/// stopped waiting. With one look-up for each name, a name whose servers do not answer occupies one thread.
struct Lookups {
    running: Mutex<HashMap<String, Running>>,
    threads: Arc<Semaphore>,
}

impl Lookups {
    /// Runs at most `threads` look-ups at once.
    fn new(threads: usize) -> Self {
        Self {
            running: Mutex::default(),
            threads: Arc::new(Semaphore::new(threads)),
        }
    }

    /// Resolves a name with `look_up`, unless it is being resolved already.
    async fn resolve(
        self: &Arc<Self>,
        name: &str,
        look_up: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> io::Result<Vec<IpAddr>> {
        let mut running = self.join(name, look_up);
        let found = running.wait_for(Option::is_some).await;
        // The sender is dropped without a result when the runtime stops.
        let found = found.ok().and_then(|found| found.clone());
        found
            .unwrap_or(Err(io::ErrorKind::Interrupted))
            .map_err(io::Error::from)
    }

    fn join(
        self: &Arc<Self>,
        name: &str,
        look_up: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> Running {
        let mut running = self.lock();
        // A look-up that panicked has dropped its sender.
        let joined = running
            .get(name)
            .filter(|found| found.has_changed().is_ok());
        if let Some(receiver) = joined {
            return receiver.clone();
        }
        let (sender, receiver) = watch::channel(None);
        running.insert(name.into(), receiver.clone());
        drop(running);
        let (lookups, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move {
            let permit = Arc::clone(&lookups.threads).acquire_owned().await;
            let look_up = spawn_blocking(move || {
                let found = look_up(&name).map_err(|error| error.kind());
                lookups.lock().remove(&name);
                sender.send_replace(Some(found));
                drop(permit);
            });
            drop(look_up.await);
        });
        receiver
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use tokio::task::{JoinHandle, yield_now};

    use super::Lookups;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));

    /// A look-up that reports its start and waits for a message.
    fn start(
        lookups: &Arc<Lookups>,
        name: &'static str,
        started: &Sender<&'static str>,
    ) -> (Sender<()>, JoinHandle<io::Result<Vec<IpAddr>>>) {
        let (end, ended): (Sender<()>, Receiver<()>) = channel();
        let (lookups, started) = (Arc::clone(lookups), started.clone());
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
    async fn no_more_look_ups_run_than_there_are_threads() {
        let lookups = Arc::new(Lookups::new(2));
        let (report, started) = channel();
        let (end_a, a) = start(&lookups, "a", &report);
        assert_eq!(started.recv().unwrap(), "a");
        let (end_b, b) = start(&lookups, "b", &report);
        assert_eq!(started.recv().unwrap(), "b");
        let (end_c, c) = start(&lookups, "c", &report);
        while lookups.lock().len() < 3 {
            yield_now().await;
        }
        // A caller that stops waiting frees no thread.
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
        assert!(lookups.lock().is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn callers_of_one_name_share_a_look_up_and_the_next_one_starts_another() {
        let lookups = Arc::new(Lookups::new(8));
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
        assert!(lookups.lock().is_empty());
    }
}
