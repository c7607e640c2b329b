//! HTTP transport: attempts over HTTP/1.1 to checked addresses.
//!
//! For a few seconds, attempts with the same scheme and host reuse a connection if the host name still resolves to the
//! address of the connection. Redirects are not followed, proxies from the environment are not used, and responses are
//! not decompressed. Only the status, the headers and the beginning of the body of a response are kept, within their
//! limits. One time limit covers the whole attempt.
//!
//! The pool of `hyper-util` is not used: it selects a connection by the host name only, without the addresses to which
//! the name resolves now.

mod connect;
mod connection;
mod limited_stream;
mod transport;

pub use transport::{HttpTransport, HttpTransportSettings};
