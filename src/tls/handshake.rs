//! Configuration and errors of handshakes.

use std::io;

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, ConfigBuilder, Error as TlsError, RootCertStore, WantsVerifier,
};

/// Begins a configuration for TLS 1.2 and 1.3.
pub(crate) fn client_config() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, TlsError> {
    ClientConfig::builder_with_provider(super::provider()).with_safe_default_protocol_versions()
}

/// Returns the system's root certificates. Logs a warning for those that cannot be read.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in system.errors {
        tracing::warn!(%error, "failed to read system root certificates");
    }
    roots.add_parsable_certificates(system.certs);
    roots
}

/// Adds the certificates in `pem`.
///
/// # Errors
/// If a certificate is malformed, or `pem` contains no certificate.
pub(crate) fn add_roots(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), &'static str> {
    const MALFORMED: &str = "the root certificates are not valid PEM";
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| MALFORMED)?;
        roots.add(certificate).map_err(|_| MALFORMED)?;
    }
    if roots.len() == before {
        return Err(MALFORMED);
    }
    Ok(())
}

/// Describes the error of a handshake.
pub(crate) fn handshake_error(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|source| source.downcast_ref());
    match cause {
        Some(TlsError::InvalidCertificate(error)) => certificate_error(error).into(),
        Some(error) => format!("TLS handshake failed: {error}"),
        None => format!("TLS handshake failed: {}", error.kind()),
    }
}

const fn certificate_error(error: &CertificateError) -> &'static str {
    use CertificateError as Error;
    match error {
        Error::Expired | Error::ExpiredContext { .. } => "the certificate has expired",
        Error::NotValidYet | Error::NotValidYetContext { .. } => "the certificate is not valid yet",
        Error::NotValidForName | Error::NotValidForNameContext { .. } => {
            "the certificate is for another host name"
        }
        _ => "the certificate is not trusted",
    }
}

#[cfg(test)]
mod tests {
    use super::{RootCertStore, add_roots};

    #[test]
    fn a_text_without_a_valid_certificate_is_rejected() {
        for text in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let added = add_roots(&mut RootCertStore::empty(), text.as_bytes());
            assert_eq!(added, Err("the root certificates are not valid PEM"), "{text}");
        }
    }
}
