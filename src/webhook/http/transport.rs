//! The HTTP transport and its settings.

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

use super::connect::{Result, connect, tls_connector};
use super::connection::{
    Connection, ConnectionPool, HttpRequest, PoolKey, ResponseCapture, response_error, was_closed,
};
use crate::build_error::BuildError;
use crate::webhook::{
    AllowedAddresses, EndpointUrl, ReceiverResponse, Resolver, SignedRequest, SystemResolver,
    Transport, TransportError,
};

/// Settings of an [`HttpTransport`]: the fields of [`WorkerSettings`](crate::worker::WorkerSettings) with these names.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpTransportSettings {
    pub allowed_addresses: AllowedAddresses,
    pub connect_timeout: Duration,
    pub attempt_timeout: Duration,
    pub idle_timeout: Duration,
    pub extra_roots_pem: String,
}

impl Default for HttpTransportSettings {
    fn default() -> Self {
        Self {
            allowed_addresses: AllowedAddresses::Public,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(3),
            extra_roots_pem: String::new(),
        }
    }
}

/// Sends attempts over HTTP and TLS. It is the default transport of a worker, and public for the tests of the library.
#[doc(hidden)]
#[derive(Clone)]
pub struct HttpTransport {
    settings: HttpTransportSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    pool: Arc<ConnectionPool>,
}

impl HttpTransport {
    /// Creates a transport with the system's resolver and root certificates.
    ///
    /// # Errors
    /// Fails if [`HttpTransportSettings::extra_roots_pem`] is not empty and contains no certificate or an invalid one.
    pub fn new(settings: HttpTransportSettings) -> Result<Self, BuildError> {
        let invalid = |reason| {
            let expected = format!("certificates in PEM, and found: {reason}");
            BuildError::new("extra_roots_pem", expected)
        };
        Ok(Self {
            resolver: Arc::new(SystemResolver),
            tls: tls_connector(&settings.extra_roots_pem).map_err(invalid)?,
            pool: Arc::default(),
            settings,
        })
    }

    /// Sets the resolver of host names. Default: [`SystemResolver`].
    #[must_use]
    pub fn resolver(self, resolver: impl Resolver) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Stores the response in `capture` as it arrives, so that a part of it remains after a timeout.
    ///
    /// A receiver may close an idle connection at the moment of its reuse. The request is then sent again on a new
    /// connection.
    async fn attempt(
        &self,
        request: SignedRequest,
        capture: &mut Option<ResponseCapture>,
    ) -> Result<()> {
        let target = EndpointUrl::parse(&request.url, self.settings.allowed_addresses)
            .map_err(TransportError::not_sent)?;
        let request = self.request(&target, request).map_err(TransportError::not_sent)?;
        let connect_or_reuse = self.with_connect_timeout(self.connect_or_reuse(&target)).await;
        let (addresses, mut connection) = connect_or_reuse.map_err(TransportError::not_sent)?;
        let mut result = connection.send(request.clone(), capture).await;
        if connection.is_reused && result.as_ref().is_err_and(was_closed) {
            let connect = connect(&target, &addresses, &self.tls);
            connection = self.with_connect_timeout(connect).await?;
            result = connection.send(request, capture).await;
        }
        result.map_err(|error| response_error(&error))?;
        let idle_timeout = self.settings.idle_timeout;
        if !idle_timeout.is_zero() && connection.is_ready().await {
            self.pool.put(connection, idle_timeout);
        }
        Ok(())
    }

    /// Returns the addresses of the target, and a connection to one of them from the pool or a new one.
    async fn connect_or_reuse(
        &self,
        target: &EndpointUrl,
    ) -> Result<(Vec<SocketAddr>, Connection)> {
        let addresses = target
            .resolve(&*self.resolver)
            .await
            .map_err(|error| TransportError::new(error.to_string()))?;
        let mut keys = addresses.iter().map(|address| PoolKey::new(target, *address));
        let connection = match keys.find_map(|key| self.pool.take(&key)) {
            Some(connection) => connection,
            None => connect(target, &addresses, &self.tls).await?,
        };
        Ok((addresses, connection))
    }

    async fn with_connect_timeout<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let limit = self.settings.connect_timeout;
        let result = timeout(limit, work).await;
        result.map_err(|_| TransportError::new(format!("cannot connect within {limit:?}")))?
    }

    fn request(&self, target: &EndpointUrl, signed: SignedRequest) -> Result<HttpRequest> {
        let mut request = Request::new(Full::new(signed.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.path().clone();
        let host = HeaderValue::from_str(target.authority())
            .map_err(|_| TransportError::new("the host name is invalid"))?;
        let headers = request.headers_mut();
        headers.insert(HOST, host);
        if self.settings.idle_timeout.is_zero() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        headers.extend(signed.headers);
        Ok(request)
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse> {
        let limit = self.settings.attempt_timeout;
        let mut capture = None;
        let result = timeout(limit, self.attempt(request, &mut capture)).await;
        match (capture, result) {
            (Some(capture), _) => Ok(capture.into()),
            (None, Ok(Err(error))) => Err(error),
            (None, Ok(Ok(())) | Err(_)) => {
                Err(TransportError::new(format!("no response within {limit:?}")))
            }
        }
    }
}

debug_fields!(HttpTransport, |it| settings: it.settings);
