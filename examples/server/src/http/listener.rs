//! Addresses on which the process listens.

use std::net::SocketAddr;
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use tokio::net::TcpListener;

use super::connections::{self, Limits};
use super::router::Monitor;
use crate::cli::AdminOptions;
use crate::shutdown::Shutdown;

/// Limits of a listener for the operator.
const LIMITS: Limits = Limits::new(64, Duration::from_secs(30));

/// Listening socket with its address.
#[derive(Debug)]
pub struct Listener {
    pub listener: TcpListener,
    pub address: SocketAddr,
}

impl Listener {
    /// Binds an address. Port 0 picks a free one.
    pub async fn bind(address: SocketAddr) -> BoardResult<Self> {
        let refused = |error| BoardError::internal(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address })
    }

    /// Binds the address of `--admin-listen`, if there is one.
    pub async fn for_operator(options: AdminOptions) -> BoardResult<Option<Self>> {
        match options.admin_listen {
            Some(address) => Self::bind(address).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the URL without a path, such as `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves the operator's routes until the process stops; without a listener, returns at once.
    pub async fn serve(operator: Option<Self>, monitor: Monitor, shutdown: &Shutdown) {
        if let Some(Self { listener, .. }) = operator {
            connections::serve(listener, monitor.router(), LIMITS, shutdown).await;
        }
    }
}
