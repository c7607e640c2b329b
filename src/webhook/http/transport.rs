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
use crate::webhook::{
    EndpointUrl, ReceiverResponse, Resolver, SignedRequest, SystemResolver, Transport,
    TransportError,
};

/// The settings of a [`HttpTransport`]. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct HttpTransportSettings {
    /// Whether webhooks may go to loopback, private and unique-local addresses. Default: no.
    pub allow_private: bool,
    /// How long it may take until there is a connection: the name's addresses, TCP, TLS. Default: 5 s.
    pub connect_timeout: Duration,
    /// How long an attempt may take: until the head of the response, for the attempt to have one, and until the end of
    /// what is read of its body. Default: 10 s. A worker's lease has to be longer.
    pub attempt_timeout: Duration,
    /// How long a connection is kept open for the next attempt to the same host and address. Let it be shorter than
    /// receivers wait for one. Default: 3 s. Zero: each attempt has a connection of its own.
    pub idle_timeout: Duration,
    /// Certificates in PEM that are trusted as well as the system's. Default: none.
    pub extra_roots_pem: String,
}

impl Default for HttpTransportSettings {
    fn default() -> Self {
        Self {
            allow_private: false,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(3),
            extra_roots_pem: String::new(),
        }
    }
}

/// Sends attempts over HTTP and TLS. It needs a tokio runtime with its timers and its sockets.
#[derive(Clone)]
pub struct HttpTransport {
    settings: HttpTransportSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    pool: Arc<ConnectionPool>,
}

impl HttpTransport {
    /// A transport that uses the system's resolver and trusts the certificates that the system trusts.
    ///
    /// # Errors
    /// When [`HttpTransportSettings::roots`] are no certificates.
    pub fn new(settings: HttpTransportSettings) -> Result<Self, BoxError> {
        Ok(Self {
            resolver: Arc::new(SystemResolver),
            tls: tls_connector(&settings.extra_roots_pem)?,
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
        request: SignedRequest,
        capture: &mut Option<ResponseCapture>,
    ) -> Result<(), TransportError> {
        let target = EndpointUrl::parse(&request.url, self.settings.allow_private);
        let target = target.map_err(|refused| TransportError(refused.to_string()))?;
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
        let keep = self.settings.idle_timeout;
        if !keep.is_zero() && connection.is_ready().await {
            self.pool.put(connection, keep);
        }
        Ok(())
    }

    /// The addresses of the target now, and a connection to one of them: a pooled one, or else a new one.
    async fn reach(
        &self,
        target: &EndpointUrl,
    ) -> Result<(Vec<SocketAddr>, Connection), TransportError> {
        let addresses = target.resolve(&*self.resolver).await;
        let addresses = addresses.map_err(|refused| TransportError(refused.to_string()))?;
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
        work: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let limit = self.settings.connect_timeout;
        let done = timeout(limit, work).await;
        done.map_err(|_| TransportError(format!("cannot connect within {limit:?}")))?
    }

    fn request(
        &self,
        target: &EndpointUrl,
        outgoing: SignedRequest,
    ) -> Result<HttpRequest, TransportError> {
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.path().clone();
        let host = HeaderValue::from_str(target.authority());
        let host = host.map_err(|_| TransportError("the host name is invalid".into()))?;
        let headers = request.headers_mut();
        headers.insert(HOST, host);
        if self.settings.idle_timeout.is_zero() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        headers.extend(outgoing.headers);
        Ok(request)
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse, TransportError> {
        let limit = self.settings.attempt_timeout;
        let mut capture = None;
        let ended = timeout(limit, self.attempt(request, &mut capture)).await;
        match (capture, ended) {
            (Some(capture), _) => Ok(capture.into()),
            (None, Ok(Err(error))) => Err(error),
            (None, Ok(Ok(())) | Err(_)) => {
                Err(TransportError(format!("no response within {limit:?}")))
            }
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
