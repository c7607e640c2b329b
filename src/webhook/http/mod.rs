//! Attempts over HTTP/1.1, to an address that was checked just before.
//!
//! A connection is kept for a few seconds for the next attempt: one that has the same host, over the same scheme, and
//! may go to the same address by then. No redirect is followed, no proxy of the environment is used, nothing is
//! decompressed, and nothing of an answer is kept but its status and the beginning of its body. One time limit covers
//! the whole attempt.

mod client;
mod connect;
mod error;
mod pool;
mod response;
mod settings;
mod tls;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

pub use settings::HttpSettings;

use super::{Answer, Outgoing, Resolver, SystemResolver, Target, Transport, Unsent};
use crate::host::BoxError;
use client::{Ask, Client};
use pool::{Idle, Way};
use response::Heard;

/// Sends attempts over HTTP and TLS. It needs a tokio runtime with its timers and its sockets.
#[derive(Clone)]
pub struct HttpTransport {
    settings: HttpSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    idle: Arc<Idle>,
}

impl HttpTransport {
    /// A transport that asks the system's resolver and trusts the certificates that the system trusts.
    ///
    /// # Errors
    /// When [`HttpSettings::roots`] are no certificates.
    pub fn new(settings: HttpSettings) -> Result<Self, BoxError> {
        Ok(Self {
            resolver: Arc::new(SystemResolver),
            tls: tls::connector(&settings.roots)?,
            idle: Arc::default(),
            settings,
        })
    }

    /// Asks `resolver` instead of the system's.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// What is heard goes into `heard` at once, so that it is there however this ends.
    ///
    /// A receiver may close a connection that waits. One that is so quick, and answers nothing, is asked again on a new
    /// one.
    async fn attempt(&self, request: Outgoing, heard: &mut Option<Heard>) -> Result<(), Unsent> {
        let target = Target::parse(&request.url, self.settings.allow_private)?;
        let ask = self.ask(&target, request)?;
        let (addresses, mut client) = self.in_time(self.reach(&target)).await?;
        let mut ended = client.ask(ask.clone(), heard).await;
        if client.has_waited && ended.as_ref().is_err_and(client::was_closed) {
            client = self.in_time(self.connect(&target, &addresses)).await?;
            ended = client.ask(ask, heard).await;
        }
        ended.map_err(|error| error::no_answer(&error))?;
        let keep = self.settings.keep;
        if !keep.is_zero() && client.is_ready().await {
            self.idle.put(client, keep);
        }
        Ok(())
    }

    /// Where the target is now, and a connection there: one that waits, or else a new one.
    async fn reach(&self, target: &Target) -> Result<(Vec<SocketAddr>, Client), Unsent> {
        let addresses = target.resolve(&*self.resolver).await?;
        let client = match self.kept(target, &addresses).await {
            Some(client) => client,
            None => self.connect(target, &addresses).await?,
        };
        Ok((addresses, client))
    }

    async fn connect(&self, target: &Target, addresses: &[SocketAddr]) -> Result<Client, Unsent> {
        connect::first(target, addresses, &self.tls).await
    }

    /// Has as much time as a connection may take.
    async fn in_time<T>(&self, work: impl Future<Output = Result<T, Unsent>>) -> Result<T, Unsent> {
        let within = self.settings.connect;
        let done = timeout(within, work).await;
        done.map_err(|_| error::late("connection", within))?
    }

    /// A connection that waits, to one of these addresses.
    async fn kept(&self, target: &Target, addresses: &[SocketAddr]) -> Option<Client> {
        for address in addresses {
            let way = Way::new(target, *address);
            while let Some(mut client) = self.idle.take(&way) {
                if client.is_ready().await {
                    return Some(client);
                }
            }
        }
        None
    }

    /// The request as it goes over the wire.
    fn ask(&self, target: &Target, outgoing: Outgoing) -> Result<Ask, Unsent> {
        let mut ask = Request::new(Full::new(outgoing.body));
        *ask.method_mut() = Method::POST;
        *ask.uri_mut() = target.path().clone();
        let host = HeaderValue::from_str(target.authority()).map_err(error::no_host)?;
        let headers = ask.headers_mut();
        headers.insert(HOST, host);
        if self.settings.keep.is_zero() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        headers.extend(outgoing.headers);
        Ok(ask)
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn post(&self, request: Outgoing) -> Result<Answer, Unsent> {
        let within = self.settings.timeout;
        let mut heard = None;
        let ended = timeout(within, self.attempt(request, &mut heard)).await;
        match (heard, ended) {
            (Some(heard), _) => Ok(heard.into()),
            (None, Ok(Err(unsent))) => Err(unsent),
            (None, Ok(Ok(())) | Err(_)) => Err(error::late("answer", within)),
        }
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpTransport")
            .field(&self.settings)
            .finish()
    }
}
