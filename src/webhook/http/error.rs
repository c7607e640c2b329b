//! Why an attempt had no answer, in one plain sentence each: no secrets, and no words of a receiver's.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio_rustls::rustls::{CertificateError, Error as TlsError};

use crate::webhook::{Refused, Unsent};

impl From<Refused> for Unsent {
    fn from(refused: Refused) -> Self {
        Self(refused.to_string())
    }
}

/// There was no `what` in time.
pub(super) fn late(what: &str, within: Duration) -> Unsent {
    Unsent(format!("no {what} within {within:?}"))
}

/// The list of addresses was empty.
pub(super) fn no_address() -> Unsent {
    Unsent("the host has no address".into())
}

/// An address could not be connected to.
pub(super) fn no_connection(address: SocketAddr, error: &io::Error) -> Unsent {
    Unsent(format!("no connection to {address}: {}", error.kind()))
}

/// The host's name is none that HTTP or TLS can say.
pub(super) fn no_host(_: impl Error) -> Unsent {
    Unsent("the name of the host is not valid".into())
}

/// The receiver speaks no TLS, or shows a certificate that will not do.
pub(super) fn no_tls(error: &io::Error) -> Unsent {
    let cause = error.get_ref().and_then(|source| source.downcast_ref());
    Unsent(match cause {
        Some(TlsError::InvalidCertificate(error)) => certificate(error).into(),
        Some(error) => format!("no TLS: {error}"),
        None => format!("no TLS: {}", error.kind()),
    })
}

const fn certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate has expired"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another name"
        }
        _ => "the certificate is not trusted",
    }
}

/// There was a connection, and no answer on it.
pub(super) fn no_answer(error: &hyper::Error) -> Unsent {
    let cause = error.source().and_then(|source| source.downcast_ref());
    let kind = cause.map(|cause| io::Error::kind(cause).to_string());
    let why = kind.unwrap_or_else(|| error.to_string());
    Unsent(format!("no answer: {why}"))
}
