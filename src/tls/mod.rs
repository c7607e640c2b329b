//! TLS clients: cryptography provider, root certificates, and the reasons for refused certificates.

#[cfg(any(feature = "tokio-postgres-0_7", feature = "webhooks"))]
mod handshake;
#[cfg(any(feature = "redis", feature = "tokio-postgres-0_7"))]
mod parameter;

use std::sync::{Arc, LazyLock};

#[cfg(any(feature = "tokio-postgres-0_7", feature = "webhooks"))]
pub(crate) use handshake::{add_roots, client_config, handshake_error, system_roots};
#[cfg(any(feature = "redis", feature = "tokio-postgres-0_7"))]
pub(crate) use parameter::{read_roots, take_parameter};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

/// The cryptography provider, independent of the process-wide default of rustls.
static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::clone(&PROVIDER)
}

/// Implements `AsyncWrite` for `$type` by its field `$field`.
#[cfg(any(feature = "tokio-postgres-0_7", feature = "webhooks"))]
macro_rules! forward_writes {
    ($type:ident.$field:tt) => {
        impl tokio::io::AsyncWrite for $type {
            fn poll_write(
                mut self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut self.$field).poll_write(context, bytes)
            }

            fn poll_write_vectored(
                mut self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
                slices: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut self.$field).poll_write_vectored(context, slices)
            }

            fn is_write_vectored(&self) -> bool {
                self.$field.is_write_vectored()
            }

            fn poll_flush(
                mut self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut self.$field).poll_flush(context)
            }

            fn poll_shutdown(
                mut self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut self.$field).poll_shutdown(context)
            }
        }
    };
}

#[cfg(any(feature = "tokio-postgres-0_7", feature = "webhooks"))]
pub(crate) use forward_writes;
