//! The port through which names become addresses.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Tells where a name leads now.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name, in the order in which to try them.
    ///
    /// # Errors
    /// When nobody knows the name, or nobody answers.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver, asked on a thread of its own. It needs a tokio runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let sockets = tokio::net::lookup_host((name, 0)).await?;
        Ok(sockets.map(|socket| socket.ip()).collect())
    }
}
