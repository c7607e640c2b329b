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
    /// How long a connection is kept open for the next attempt to the same host and address. Let it be shorter than
    /// receivers wait for one. Default: 3 s. Zero: each attempt has a connection of its own.
    pub keep: Duration,
    /// Certificates in PEM that are trusted as well as the system's. Default: none.
    pub roots: String,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            allow_private: false,
            connect: Duration::from_secs(5),
            timeout: Duration::from_secs(10),
            keep: Duration::from_secs(3),
            roots: String::new(),
        }
    }
}
