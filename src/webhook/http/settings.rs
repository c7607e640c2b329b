//! What an operator may set about attempts.

use std::time::Duration;

/// The settings of a [`HttpTransport`](super::HttpTransport). Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Whether webhooks may go to loopback, private and unique-local addresses. Default: no.
    pub allow_private: bool,
    /// How long it may take until there is a connection: the name's addresses, TCP, TLS. Default: 5 s.
    pub connect: Duration,
    /// How long an attempt may take: until the head of the answer, for the attempt to have one, and until the end of
    /// what is read of its body. Default: 10 s. A worker's lease has to be longer.
    pub timeout: Duration,
    /// Certificates in PEM that are trusted as well as the system's. Default: none.
    pub roots: String,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            allow_private: false,
            connect: Duration::from_secs(5),
            timeout: Duration::from_secs(10),
            roots: String::new(),
        }
    }
}
