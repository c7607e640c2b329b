//! Who is trusted.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::host::BoxError;

/// TLS 1.2 and 1.3, with the certificates that the system trusts and those in `pem`. The cryptography is named here,
/// so that it does not depend on what else a host's process has set up.
pub(super) fn connector(pem: &str) -> Result<TlsConnector, BoxError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(pem)?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

fn roots(pem: &str) -> Result<RootCertStore, BoxError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in system.errors {
        tracing::warn!(%error, "certificates that the system trusts could not be read");
    }
    roots.add_parsable_certificates(system.certs);
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate?)?;
    }
    let some = roots.len() > before || pem.is_empty();
    some.then_some(roots)
        .ok_or_else(|| "the trusted certificates are not in PEM".into())
}
