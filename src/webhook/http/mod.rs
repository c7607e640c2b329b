//! Attempts over HTTP/1.1: one connection each, to an address that was checked just before.
//!
//! No redirect is followed, no proxy of the environment is used, nothing is decompressed, and nothing of an answer is
//! kept but its status and the beginning of its body. One time limit covers the whole attempt.

mod answer;
mod connect;
mod exchange;
mod fault;
mod settings;
mod tls;

use std::fmt;
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
use answer::Heard;
use exchange::{Ask, exchange};

/// Sends attempts over HTTP and TLS. It needs a tokio runtime with its timers and its sockets.
#[derive(Clone)]
pub struct HttpTransport {
    settings: HttpSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
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
            settings,
        })
    }

    /// Asks `resolver` instead of the system's.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// What is heard goes into `heard` at once, so that it is there however this ends.
    async fn attempt(&self, request: Outgoing, heard: &mut Option<Heard>) -> Result<(), Unsent> {
        let within = self.settings.connect;
        let target = Target::parse(&request.url, self.settings.allow_private)?;
        let connection = timeout(within, self.connect(&target)).await;
        let connection = connection.map_err(|_| fault::late("connection", within))??;
        exchange(connection, ask(&target, request)?, heard).await
    }

    async fn connect(&self, target: &Target) -> Result<connect::Connection, Unsent> {
        let addresses = target.resolve(&*self.resolver).await?;
        connect::first(target, &addresses, &self.tls, self.settings.connect).await
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
            (None, Ok(Ok(())) | Err(_)) => Err(fault::late("answer", within)),
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

/// The request as it goes over the wire.
fn ask(target: &Target, outgoing: Outgoing) -> Result<Ask, Unsent> {
    let mut ask = Request::new(Full::new(outgoing.body));
    *ask.method_mut() = Method::POST;
    *ask.uri_mut() = target.path().clone();
    let host = HeaderValue::from_str(target.authority()).map_err(fault::no_host)?;
    ask.headers_mut().insert(HOST, host);
    ask.headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    ask.headers_mut().extend(outgoing.headers);
    Ok(ask)
}
