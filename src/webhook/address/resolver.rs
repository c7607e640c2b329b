//! The port through which names become addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;

use super::lookups::Lookups;

/// Tells where a name leads now.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name, in the order in which to try them.
    ///
    /// # Errors
    /// When nobody knows the name, or nobody answers.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
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
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let look_up = |name: &str| {
            let sockets = (name, 0).to_socket_addrs()?;
            Ok(sockets.map(|socket| socket.ip()).collect())
        };
        LOOKUPS.resolve(name, look_up).await
    }
}
