//! Who is trusted to be the receiver.

use std::sync::Arc;

use forum_api::webhook::{HttpTransport, Transport as _, Unsent};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::wire::Act::{Blurt, Reset, Say};
use crate::wire::{AUTHORITY, LONG, Names, Receiver, loopback, outgoing, settings, transport};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Shows the certificate of this name.
pub(crate) fn acceptor(certificate: &str) -> TlsAcceptor {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/certificates");
    let chain = CertificateDer::from_pem_file(format!("{folder}/{certificate}.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{folder}/receiver.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key);
    Arc::new(config.unwrap()).into()
}

#[tokio::test]
#[rustfmt::skip]
async fn a_certificate_holds_for_a_name_and_a_time_if_somebody_trusted_says_so() {
    let (name, address) = ("https://receiver.test", "https://127.0.0.1");
    let (rooted, other) = ("https://RECEIVER.test.", "https://other.test");
    let untrusted = Err("the certificate is not trusted");
    for (certificate, origin, roots, outcome) in [
        ("receiver", name, AUTHORITY, Ok(200)),
        ("receiver", address, AUTHORITY, Ok(200)),
        ("receiver", rooted, AUTHORITY, Ok(200)),
        ("receiver", name, "", untrusted),
        ("stranger", name, AUTHORITY, untrusted),
        ("receiver", other, AUTHORITY, Err("the certificate is for another name")),
        ("expired", name, AUTHORITY, Err("the certificate has expired")),
        ("early", name, AUTHORITY, Err("the certificate is not valid yet")),
    ] {
        let mut settings = settings(LONG);
        settings.roots = roots.into();
        let receiver = Receiver::acting(vec![Say(OK)], Some(acceptor(certificate))).await;
        let transport = transport(settings, &Names::leading_to(&["127.0.0.1"]));
        let answer = transport.post(outgoing(&receiver.url(origin))).await;
        let status = answer.map(|answer| answer.status);
        let outcome = outcome.map_err(|why: &str| Unsent(why.into()));
        assert_eq!(status, outcome, "{certificate} {origin}");
    }
}

#[tokio::test]
async fn what_is_asked_for_is_the_name_and_not_the_address() {
    let mut receiver = Receiver::acting(vec![Say(OK)], Some(acceptor("receiver"))).await;
    let url = receiver.url("https://receiver.test");
    loopback(LONG).post(outgoing(&url)).await.unwrap();
    let seen = receiver.ended().await;
    assert_eq!(seen[0].name.as_deref(), Some("receiver.test"));
    let host = format!("\r\nhost: receiver.test:{}\r\n", receiver.address().port());
    assert!(seen[0].request.contains(&host));
}

#[tokio::test]
async fn who_speaks_no_tls_of_today_is_sent_nothing() {
    let transport = loopback(LONG);
    for (act, why) in [
        (
            Blurt(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "no TLS: received corrupt message",
        ),
        // The alert of a receiver that knows TLS 1.0 at most.
        (
            Blurt(b"\x15\x03\x01\x00\x02\x02\x46"),
            "no TLS: received fatal alert",
        ),
        (Reset, "no TLS: connection reset"),
    ] {
        let mut receiver = Receiver::new(act).await;
        let url = receiver.url("https://receiver.test");
        let Err(Unsent(said)) = transport.post(outgoing(&url)).await else {
            panic!("{act:?} was answered");
        };
        assert!(said.starts_with(why), "{act:?}: {said}");
        assert_eq!(receiver.ended().await[0].request, "");
    }
}

#[test]
fn what_is_trusted_beside_must_be_certificates() {
    for roots in [
        "no certificate",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let mut settings = settings(LONG);
        settings.roots = roots.into();
        assert!(HttpTransport::new(settings).is_err(), "{roots}");
    }
}
