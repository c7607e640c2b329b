//! Command `health`.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use forum_api::host::{BoardError, BoardResult};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http::listener::reachable;
use crate::options::{AdminOptions, ServerAddress};
use crate::output::Output;

/// Time limit. It is longer than the time limit of the server's own check.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks the server or the worker at --admin-listen, or else at --listen, whether it is ready.
#[derive(Debug, Args)]
pub struct HealthCommand {
    #[command(flatten)]
    address: ServerAddress,
    #[command(flatten)]
    admin: AdminOptions,
}

impl HealthCommand {
    pub async fn run(self) -> BoardResult<Output> {
        let address = reachable(self.admin.admin_listen.unwrap_or(self.address.listen));
        let status = match timeout(TIMEOUT, ready_status(address)).await {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return Err(unhealthy(address, &error.to_string())),
            Err(_) => return Err(unhealthy(address, "no response within 10 s")),
        };
        if status != "200" {
            return Err(unhealthy(address, &format!("/ready responded with {status}")));
        }
        Output::message(format_args!("The process at {address} is ready."))
    }
}

fn unhealthy(address: SocketAddr, reason: &str) -> BoardError {
    BoardError::conflict(format!("the process at {address} is not ready: {reason}"))
}

/// Returns the status of `/ready`.
async fn ready_status(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /ready HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.take(4096).read_to_string(&mut response).await?;
    response
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .map(Into::into)
        .ok_or_else(|| io::Error::other("the response is not HTTP/1.1"))
}
