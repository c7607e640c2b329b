//! TLS clients: cryptography provider, root certificates, and the reasons for refused certificates.

#[cfg(any(feature = "postgres", feature = "webhooks"))]
mod handshake;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod parameter;

use std::sync::{Arc, LazyLock};

#[cfg(any(feature = "postgres", feature = "webhooks"))]
pub(crate) use handshake::{add_roots, client_config, handshake_error, system_roots};
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) use parameter::{read_roots, take_parameter};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

/// The cryptography provider, independent of the process-wide default of rustls.
static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::clone(&PROVIDER)
}
