//! Expiry of the certificates of Postgres and Redis, for the metrics.
//!
//! Connections are kept for a long time, so that the certificate of their handshake can be older than that of the server.
//! Each check therefore makes a connection of its own. It does not verify the certificate, so that an expired one is
//! recorded as well.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, SystemClock};
use metrics::gauge;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use crate::board::db;
use crate::http::metrics::CERTIFICATE_DAYS;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Time limit of the check of one host.
const TIMEOUT: Duration = Duration::from_secs(5);

const MILLIS_PER_DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// The request of TLS before the handshake with Postgres.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// A kind of server, which is a label of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerKind {
    Postgres,
    Redis,
}

/// A host that may use TLS.
#[derive(Debug, PartialEq, Eq)]
struct TlsHost {
    kind: ServerKind,
    name: String,
    port: u16,
}

/// Records the days until the certificates of the servers in these URLs expire. Never returns.
pub async fn record_periodically(urls: &[&str]) {
    let hosts: Vec<_> = urls.iter().flat_map(|url| tls_hosts(url)).collect();
    if hosts.is_empty() {
        return pending().await;
    }
    loop {
        for (kind, label) in [(ServerKind::Postgres, "postgres"), (ServerKind::Redis, "redis")] {
            let mut earliest: Option<Timestamp> = None;
            for host in hosts.iter().filter(|host| host.kind == kind) {
                match timeout(TIMEOUT, host.certificate_expiry()).await {
                    Ok(Ok(Some(expiry))) => {
                        earliest = Some(earliest.map_or(expiry, |earlier| earlier.min(expiry)));
                    }
                    Ok(Ok(None)) => {}
                    Ok(Err(error)) => {
                        tracing::debug!(host = host.name, %error, "failed to read a certificate");
                    }
                    Err(_) => {
                        tracing::debug!(host = host.name, "no certificate within {TIMEOUT:?}")
                    }
                }
            }
            if let Some(expiry) = earliest {
                let left = expiry.as_millis().saturating_sub(SystemClock.now().as_millis());
                gauge!(CERTIFICATE_DAYS, "server" => label).set(left as f64 / MILLIS_PER_DAY);
            }
        }
        sleep(INTERVAL).await;
    }
}

/// Returns the hosts of a URL of Postgres, unless it forbids TLS, or of a URL of Redis with TLS.
fn tls_hosts(url: &str) -> Vec<TlsHost> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Vec::new();
    };
    match scheme {
        "postgres" | "postgresql" => postgres_hosts(url),
        "rediss+sentinel" => redis_hosts(rest, 26379),
        "rediss" | "rediss+cluster" => redis_hosts(rest, 6379),
        _ => Vec::new(),
    }
}

fn postgres_hosts(url: &str) -> Vec<TlsHost> {
    if db::parameters(url, "sslmode").any(|mode| mode == "disable") {
        return Vec::new();
    }
    // One port for all hosts, or a port for each.
    let ports: Vec<u16> = db::parameters(url, "port")
        .flat_map(|ports| ports.split(','))
        .filter_map(|port| port.parse().ok())
        .collect();
    db::hosts(url)
        .enumerate()
        // A directory of a Unix-domain socket has no certificate.
        .filter(|(_, host)| !host.starts_with(['%', '/']))
        .filter_map(|(index, host)| {
            let port = ports.get(index).or_else(|| ports.first());
            TlsHost::parse(ServerKind::Postgres, host, port.copied().unwrap_or(5432))
        })
        .collect()
}

fn redis_hosts(rest: &str, default_port: u16) -> Vec<TlsHost> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    // The driver of Redis ends the credentials at the last `@`, the driver of Postgres at the first one.
    let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
    hosts
        .split(',')
        .filter(|host| !host.is_empty())
        .filter_map(|host| TlsHost::parse(ServerKind::Redis, host, default_port))
        .collect()
}

impl TlsHost {
    /// Parses a host with or without a port. Returns `None` if the port is invalid.
    fn parse(kind: ServerKind, text: &str, default_port: u16) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                (name, port.parse().ok()?)
            }
            _ => (text, default_port),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some(Self { kind, name, port })
    }

    /// Returns the time at which the certificate expires; `None` if the server offers no TLS.
    async fn certificate_expiry(&self) -> io::Result<Option<Timestamp>> {
        let mut stream = TcpStream::connect((self.name.as_str(), self.port)).await?;
        if self.kind == ServerKind::Postgres {
            stream.write_all(&SSL_REQUEST).await?;
            if stream.read_u8().await? != b'S' {
                return Ok(None);
            }
        }
        let name = ServerName::try_from(self.name.clone()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::new(config(self.kind).map_err(io::Error::other)?));
        let stream = connector.connect(name, stream).await?;
        let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
        Ok(certificates.first().and_then(|certificate| expiry_of(certificate)))
    }
}

fn config(kind: ServerKind) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    if kind == ServerKind::Postgres {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(config)
}

/// Accepts each certificate: the connection ends after the handshake, and sends nothing.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Tags of elements in DER.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// An element in DER.
#[derive(Clone, Copy, Debug)]
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

/// Returns the time at which a certificate expires (`notAfter` in RFC 5280, 4.1). Parsers of whole certificates need eight more crates.
fn expiry_of(certificate: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = next_element(certificate)?;
    let (body, _) = next_element(certificate.content)?;
    let mut rest = body.content;
    let (first, after) = next_element(rest)?;
    if first.tag == VERSION {
        rest = after;
    }
    // Serial number, algorithm of the signature, and issuer.
    for _ in 0..3 {
        (_, rest) = next_element(rest)?;
    }
    let (validity, _) = next_element(rest)?;
    let (_, after_begin) = next_element(validity.content)?;
    let (end, _) = next_element(after_begin)?;
    parse_time(end)
}

/// Returns the first element, and the bytes after it.
fn next_element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((Element { tag, content }, rest))
}

fn parse_time(element: Element<'_>) -> Option<Timestamp> {
    let content = str::from_utf8(element.content).ok()?;
    let text = match element.tag {
        GENERALIZED_TIME => content.to_owned(),
        UTC_TIME if content < "50" => format!("20{content}"),
        UTC_TIME => format!("19{content}"),
        _ => return None,
    };
    let [year, month, day, hour, minute, second] =
        [0..4, 4..6, 6..8, 8..10, 10..12, 12..14].map(|range| text.get(range).unwrap_or_default());
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")).ok()
}

#[cfg(test)]
mod tests {
    use forum_test_support::tls::Certificates;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;

    use super::*;

    #[test]
    fn the_expiry_of_a_certificate_is_read() {
        let certificates = Certificates::new();
        for (name, expected) in
            [("Expired", "2020-01-01T00:00:00Z"), ("Valid", "4096-01-01T00:00:00Z")]
        {
            let file = certificates.path(&format!("{name}.pem"));
            let certificate = CertificateDer::from_pem_file(file).unwrap();
            assert_eq!(expiry_of(&certificate), Timestamp::parse(expected).ok(), "{name}");
            for length in 0..certificate.len() {
                // Must not panic.
                let _ = expiry_of(certificate.get(..length).unwrap());
            }
        }
    }

    #[test]
    fn a_year_of_two_digits_is_between_1950_and_2049() {
        for (tag, content, expected) in [
            (UTC_TIME, "491231235958Z", Some("2049-12-31T23:59:58Z")),
            (UTC_TIME, "500102030405Z", Some("1950-01-02T03:04:05Z")),
            (GENERALIZED_TIME, "20500102030405Z", Some("2050-01-02T03:04:05Z")),
            (VERSION, "20500102030405Z", None),
        ] {
            let time = parse_time(Element { tag, content: content.as_bytes() });
            assert_eq!(time, expected.map(|time| Timestamp::parse(time).unwrap()), "{content}");
        }
    }

    #[test]
    fn urls_name_the_hosts_with_tls() {
        let hosts = |url: &str| {
            let hosts = tls_hosts(url);
            hosts.iter().map(|host| format!("{}:{}", host.name, host.port)).collect::<Vec<_>>()
        };
        for (url, expected) in [
            ("sqlite:forum.db", &[][..]),
            ("postgres:///forum?host=/run/postgresql", &[]),
            ("postgres:///forum?host=h&port=6432&sslmode=verify-full", &["h:6432"]),
            ("postgres:///forum?host=h&host=::1&port=6432,5433", &["h:6432", "::1:5433"]),
            ("postgres://forum@%2Frun%2Fpostgresql/forum", &[]),
            ("postgres://forum:p@h/forum?sslmode=disable", &[]),
            ("postgres://forum:sslmode=disable@h/forum", &["h:5432"]),
            ("postgres://forum:p@h,[::1]:6432/forum", &["h:5432", "::1:6432"]),
            ("postgres://forum:p?q@h/forum?application_name=a@b", &["h:5432"]),
            ("postgresql://h/forum", &["h:5432"]),
            ("postgres:///forum?host=h,i&port=6432", &["h:6432", "i:6432"]),
            ("redis://h", &[]),
            ("rediss://h:x", &[]),
            ("rediss://:p@q@h,,[::1]", &["h:6379", "::1:6379"]),
            ("rediss+cluster://h,i:1", &["h:6379", "i:1"]),
            ("rediss://:p@h/0", &["h:6379"]),
            ("rediss://h?protocol=resp3", &["h:6379"]),
            ("rediss://:p@h/0?name=a@b", &["h:6379"]),
            ("rediss+sentinel://h,i:1/board", &["h:26379", "i:1"]),
        ] {
            assert_eq!(hosts(url), expected, "{url}");
        }
    }
}
