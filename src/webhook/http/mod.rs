//! Attempts over HTTP/1.1, to an address that was checked just before.
//!
//! A connection is kept for a few seconds for the next attempt: one that has the same host, over the same scheme, and
//! may go to the same address by then. No redirect is followed, no proxy of the environment is used, nothing is
//! decompressed, and nothing of a response is kept but its status and the beginning of its body. One time limit covers
//! the whole attempt.

mod connect;
mod connection;
mod transport;

pub use transport::{HttpTransport, HttpTransportSettings};
