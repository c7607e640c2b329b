//! TLS of connections, with the modes of libpq.
//!
//! `tokio-postgres-rustls` is not used: its connector could replace the last types of this file, but it adds a parser of
//! certificates for channel binding, and its errors do not name the reason of a failed handshake.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_rustls::{TlsConnector, client};

use crate::runtime::BoxFuture;
use crate::store::postgres::PostgresError;
use crate::tls::{self, forward_writes};

/// Protocol name that libpq sends.
const ALPN: &[u8] = b"postgresql";

/// WebPKI's text for a certificate authority that is the certificate of a server. The error is not exposed as a value.
const CA_AS_SERVER: &str = "CaUsedAsEndEntity";

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

const EXPECTED_URL: &str =
    "invalid Postgres URL: expected postgres://USER:PASSWORD@HOST[:PORT]/DATABASE";

pub(super) const UNENCODED_AT: &str =
    "invalid Postgres URL: percent-encode each @ of the password or of a parameter as %40";

/// Use of TLS according to the parameters `sslmode` and `sslrootcert` of a URL.
pub(super) struct TlsMode {
    pub(super) negotiation: SslMode,
    pub(super) connector: PostgresTls,
}

impl TlsMode {
    /// Removes the TLS parameters from the URL. Returns the rest of the URL, and the mode.
    ///
    /// # Errors
    /// [`PostgresError`] if the address is not a URL, the password contains an `@`, the mode is unknown or weaker than
    /// `sslrootcert=system` requires, or the root certificates cannot be used.
    pub(super) fn take_from(address: &str) -> Result<(String, Self), PostgresError> {
        if !SCHEMES.iter().any(|scheme| address.starts_with(scheme)) {
            return Err(PostgresError::unusable(EXPECTED_URL));
        }
        // The driver ends the credentials at the first `@`, so a password can contain `?`.
        let host = address.find('@').map_or(0, |at| at + 1);
        let (credentials, rest) = address.split_at(host);
        let path = rest.split_once('?').map_or(rest, |(path, _)| path);
        if path.contains('@') {
            return Err(PostgresError::unusable(UNENCODED_AT));
        }
        let (rest, mode) = tls::take_parameter(rest, "sslmode");
        let (rest, roots) = tls::take_parameter(&rest, "sslrootcert");
        let url = format!("{credentials}{rest}");
        let is_system = roots.as_deref() == Some("system");
        let default_mode = if is_system { "verify-full" } else { "prefer" };
        let verifier = || verifier(roots.as_deref().filter(|_| !is_system));
        let (negotiation, verification) = match mode.as_deref().unwrap_or(default_mode) {
            "verify-full" => (SslMode::Require, Verification::Full(verifier()?)),
            // The system's roots sign a certificate for every owner of a domain, so a signature without a verified host
            // name proves nothing.
            "disable" | "prefer" | "require" | "verify-ca" if is_system => {
                let message = "sslrootcert=system requires sslmode=verify-full";
                return Err(PostgresError::unusable(message));
            }
            "disable" => (SslMode::Disable, Verification::None),
            "prefer" if roots.is_none() => (SslMode::Prefer, Verification::None),
            "prefer" => (SslMode::Prefer, Verification::Chain(verifier()?)),
            "require" if roots.is_none() => (SslMode::Require, Verification::None),
            "require" | "verify-ca" => (SslMode::Require, Verification::Chain(verifier()?)),
            _ => {
                let expected = "expected one of disable, prefer, require, verify-ca, verify-full";
                return Err(PostgresError::unusable(format!("unknown sslmode; {expected}")));
            }
        };
        let mut config = tls::client_config()
            .map_err(PostgresError::unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verification))
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN.into()];
        let connector = PostgresTls(Arc::new(config));
        let mode = Self { negotiation, connector };
        Ok((url, mode))
    }
}

/// Returns a verifier that trusts the certificates in the PEM file `path`. If `path` is `None`, it trusts the roots of
/// the system.
fn verifier(path: Option<&str>) -> Result<Verifier, PostgresError> {
    let mut roots = RootCertStore::empty();
    let mut pinned = Vec::new();
    match path {
        Some(path) => {
            let pem = tls::read_roots(path).map_err(PostgresError::unusable)?;
            tls::add_roots(&mut roots, &pem).map_err(PostgresError::unusable)?;
            pinned.extend(CertificateDer::pem_slice_iter(&pem).flatten());
        }
        None => roots = tls::system_roots(),
    }
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), tls::provider());
    let no_roots =
        |_| PostgresError::unusable("the system has no root certificates: set sslrootcert");
    let chains = chains.build().map_err(no_roots)?;
    Ok(Verifier { chains, pinned })
}

/// Verifier of certificates that a trusted root signed, and of trusted roots that a server uses as its own certificate.
#[derive(Debug)]
struct Verifier {
    chains: Arc<WebPkiServerVerifier>,
    /// The certificates of `sslrootcert`.
    pinned: Vec<CertificateDer<'static>>,
}

impl Verifier {
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chains = &self.chains;
        match chains.verify_server_cert(certificate, intermediates, name, &[], now) {
            // WebPKI does not accept a certificate authority as a server; libpq does. The holder of the root's key
            // could sign a certificate for the server, so trust in the root includes this one. WebPKI compares the
            // validity period before this error, and the name after it.
            Err(Error::InvalidCertificate(CertificateError::Other(cause)))
                if cause.to_string() == CA_AS_SERVER && self.pinned.contains(certificate) =>
            {
                let certificate = ParsedCertificate::try_from(certificate)?;
                verify_server_name(&certificate, name).map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }
}

/// Verification of a server's certificate.
#[derive(Debug)]
enum Verification {
    None,
    /// A trusted root must have signed the certificate, for any host name.
    Chain(Verifier),
    Full(Verifier),
}

impl ServerCertVerifier for Verification {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        match self {
            Self::None => Ok(ServerCertVerified::assertion()),
            Self::Full(verifier) => verifier.verify(certificate, intermediates, name, now),
            // The name is compared last, after all other checks have passed.
            Self::Chain(verifier) => match verifier.verify(certificate, intermediates, name, now) {
                Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                    Ok(ServerCertVerified::assertion())
                }
                verified => verified,
            },
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = tls::provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = tls::provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = tls::provider().signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// Makes TLS connections to a server with a given name.
#[derive(Clone)]
pub(super) struct PostgresTls(Arc<ClientConfig>);

impl MakeTlsConnect<Socket> for PostgresTls {
    type Stream = PostgresTlsStream;
    type TlsConnect = NamedServer;
    type Error = Infallible;

    fn make_tls_connect(&mut self, host: &str) -> Result<NamedServer, Infallible> {
        // The driver also calls this for connections without TLS, and with an empty name for a Unix-domain socket.
        let name = ServerName::try_from(host.to_owned()).ok();
        Ok(NamedServer { connector: TlsConnector::from(self.0.clone()), name })
    }
}

pub(super) struct NamedServer {
    connector: TlsConnector,
    /// `None` if the name is invalid.
    name: Option<ServerName<'static>>,
}

impl TlsConnect<Socket> for NamedServer {
    type Stream = PostgresTlsStream;
    type Error = String;
    type Future = BoxFuture<'static, Result<PostgresTlsStream, String>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or("the host name is invalid")?;
            let connected = self.connector.connect(name, socket).await;
            connected.map(PostgresTlsStream).map_err(|error| tls::handshake_error(&error))
        })
    }
}

pub(super) struct PostgresTlsStream(client::TlsStream<Socket>);

impl TlsStream for PostgresTlsStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for PostgresTlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

forward_writes!(PostgresTlsStream.0);
