//! The transport of attempts over HTTP, and its settings.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::connect::{connect, tls_connector};
use super::connection::{
    Connection, ConnectionPool, HttpRequest, PoolKey, ResponseCapture, response_error, was_closed,
};
use crate::error::BoxError;
use crate::webhook::{Answer, Outgoing, Resolver, SystemResolver, Target, Transport, Unsent};

/// The settings of a [`HttpTransport`]. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Whether webhooks may go to loopback, private and unique-local addresses. Default: no.
    pub allow_private: bool,
    /// How long it may take until there is a connection: the name's addresses, TCP, TLS. Default: 5 s.
    pub connect: Duration,
    /// How long an attempt may take: until the head of the response, for the attempt to have one, and until the end of
    /// what is read of its body. Default: 10 s. A worker's lease has to be longer.
    pub timeout: Duration,
    /// How long a connection is kept open for the next attempt to the same host and address. Let it be shorter than
    /// receivers wait for one. Default: 3 s. Zero: each attempt has a connection of its own.
    pub keep: Duration,
    /// Certificates in PEM that are trusted as well as the system's. Default: none.
    pub roots: String,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            allow_private: false,
            connect: Duration::from_secs(5),
            timeout: Duration::from_secs(10),
            keep: Duration::from_secs(3),
            roots: String::new(),
        }
    }
}

/// Sends attempts over HTTP and TLS. It needs a tokio runtime with its timers and its sockets.
#[derive(Clone)]
pub struct HttpTransport {
    settings: HttpSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    pool: Arc<ConnectionPool>,
}

impl HttpTransport {
    /// A transport that uses the system's resolver and trusts the certificates that the system trusts.
    ///
    /// # Errors
    /// When [`HttpSettings::roots`] are no certificates.
    pub fn new(settings: HttpSettings) -> Result<Self, BoxError> {
        Ok(Self {
            resolver: Arc::new(SystemResolver),
            tls: tls_connector(&settings.roots)?,
            pool: Arc::default(),
            settings,
        })
    }

    /// Uses `resolver` instead of the system's.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// The response goes into `capture` as it arrives, so that it is there however the attempt ends.
    ///
    /// A receiver may close a connection in the moment in which it is used again. The request is then sent again on a new
    /// connection.
    async fn attempt(
        &self,
        request: Outgoing,
        capture: &mut Option<ResponseCapture>,
    ) -> Result<(), Unsent> {
        let target = Target::parse(&request.url, self.settings.allow_private);
        let target = target.map_err(|refused| Unsent(refused.to_string()))?;
        let request = self.request(&target, request)?;
        let reached = self.with_connect_timeout(self.reach(&target));
        let (addresses, mut connection) = reached.await?;
        let mut ended = connection.send(request.clone(), capture).await;
        if connection.is_reused && ended.as_ref().is_err_and(was_closed) {
            let connect = connect(&target, &addresses, &self.tls);
            connection = self.with_connect_timeout(connect).await?;
            ended = connection.send(request, capture).await;
        }
        ended.map_err(|error| response_error(&error))?;
        let keep = self.settings.keep;
        if !keep.is_zero() && connection.is_ready().await {
            self.pool.put(connection, keep);
        }
        Ok(())
    }

    /// The addresses of the target now, and a connection to one of them: a pooled one, or else a new one.
    async fn reach(&self, target: &Target) -> Result<(Vec<SocketAddr>, Connection), Unsent> {
        let addresses = target.resolve(&*self.resolver).await;
        let addresses = addresses.map_err(|refused| Unsent(refused.to_string()))?;
        let mut keys = addresses
            .iter()
            .map(|address| PoolKey::new(target, *address));
        let connection = match keys.find_map(|key| self.pool.take(&key)) {
            Some(connection) => connection,
            None => connect(target, &addresses, &self.tls).await?,
        };
        Ok((addresses, connection))
    }

    async fn with_connect_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, Unsent>>,
    ) -> Result<T, Unsent> {
        let limit = self.settings.connect;
        let done = timeout(limit, work).await;
        done.map_err(|_| Unsent(format!("no connection within {limit:?}")))?
    }

    fn request(&self, target: &Target, outgoing: Outgoing) -> Result<HttpRequest, Unsent> {
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.path().clone();
        let host = HeaderValue::from_str(target.authority());
        let host = host.map_err(|_| Unsent("the host name is invalid".into()))?;
        let headers = request.headers_mut();
        headers.insert(HOST, host);
        if self.settings.keep.is_zero() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        headers.extend(outgoing.headers);
        Ok(request)
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn post(&self, request: Outgoing) -> Result<Answer, Unsent> {
        let limit = self.settings.timeout;
        let mut capture = None;
        let ended = timeout(limit, self.attempt(request, &mut capture)).await;
        match (capture, ended) {
            (Some(capture), _) => Ok(capture.into()),
            (None, Ok(Err(error))) => Err(error),
            (None, Ok(Ok(())) | Err(_)) => Err(Unsent(format!("no response within {limit:?}"))),
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
