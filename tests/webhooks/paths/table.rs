//! Each path of the table: what the receiver does at each attempt, and what becomes of the delivery.

use forum_api::webhook::State;

use crate::tls::acceptor;
use crate::wire::Act::{self, Blurt, Drip, Flood, Hold, Reset, Say, Trickle};
use crate::wire::Receiver;

pub(super) const OK: Act = Say(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
pub(super) const GONE: Act = Say(b"HTTP/1.1 410 Gone\r\ncontent-length: 3\r\n\r\nbye");
pub(super) const LATER: Act =
    Say(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 5\r\n\r\nlater");
const MOVED: Act =
    Say(b"HTTP/1.1 308 Permanent Redirect\r\nlocation: /new\r\ncontent-length: 4\r\n\r\n/new");
const DRIPPED: Act = Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
const KIB: &[u8] = &[b'y'; 1024];

/// How the receiver is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Http,
    /// Over TLS, with the certificate of this name.
    Https(&'static str),
    /// Not at all: nobody listens.
    Nobody,
}

impl By {
    /// A receiver that is reached so, and does this.
    pub(super) async fn receiver(self, acts: Vec<Act>) -> Receiver {
        match self {
            Self::Http => Receiver::acting(acts, None).await,
            Self::Https(certificate) => Receiver::acting(acts, Some(acceptor(certificate))).await,
            Self::Nobody => Receiver::deaf(),
        }
    }

    /// The scheme and the name by which it is registered.
    pub(super) const fn origin(self) -> &'static str {
        match self {
            Self::Https(_) => "https://receiver.test",
            Self::Http | Self::Nobody => "http://receiver.test",
        }
    }
}

/// A path with how the receiver is reached, what it does at each attempt (the last for ever), how the delivery ends,
/// and what the log says of each attempt.
pub(super) type Path = (
    &'static str,
    By,
    &'static [Act],
    State,
    &'static [&'static str],
);

#[rustfmt::skip]
pub(super) const PATHS: &[Path] = &[
    ("success", By::Http, &[OK], State::Delivered, &["200 ok"]),
    ("success over TLS", By::Https("receiver"), &[OK], State::Delivered, &["200 ok"]),
    ("success at the third attempt", By::Http, &[LATER, LATER, OK], State::Delivered,
        &["503 later", "503 later", "200 ok"]),
    ("success at the sixth attempt", By::Http, &[LATER, LATER, LATER, LATER, LATER, OK], State::Delivered,
        &["503 later", "503 later", "503 later", "503 later", "503 later", "200 ok"]),
    ("six failures", By::Http, &[LATER], State::Dead, &["503 later"; 6]),
    ("gone", By::Http, &[GONE], State::Gone, &["410 bye"]),
    ("gone at the sixth attempt", By::Http, &[LATER, LATER, LATER, LATER, LATER, GONE], State::Gone,
        &["503 later", "503 later", "503 later", "503 later", "503 later", "410 bye"]),
    ("a refused connection", By::Nobody, &[], State::Dead,
        &["no connection to the receiver: connection refused"; 6]),
    ("a broken connection", By::Http, &[Reset, OK], State::Delivered,
        &["no answer: connection reset", "200 ok"]),
    ("a certificate that nobody trusts", By::Https("stranger"), &[OK], State::Dead,
        &["the certificate is not trusted"; 6]),
    ("no TLS at first", By::Https("receiver"), &[Blurt(b"HTTP/1.1 400 Bad Request\r\n\r\n"), OK], State::Delivered,
        &["no TLS: received corrupt message of type InvalidContentType", "200 ok"]),
    ("a redirect", By::Http, &[MOVED], State::Dead, &["308 /new"; 6]),
    ("a huge answer", By::Http, &[Flood(b"HTTP/1.1 200 OK\r\n\r\n", KIB)], State::Delivered,
        &["200, 4096 bytes"]),
    ("a huge refusal", By::Http, &[Flood(b"HTTP/1.1 500 Oh\r\n\r\n", KIB), OK], State::Delivered,
        &["500, 4096 bytes", "200 ok"]),
    ("a huge head", By::Http, &[Flood(b"HTTP/1.1 200 OK\r\nx: ", KIB), OK], State::Delivered,
        &["no answer: message head is too large", "200 ok"]),
    ("one byte at a time", By::Http, &[DRIPPED], State::Delivered, &["200 ok"]),
];

/// Those on which an attempt is given up.
#[rustfmt::skip]
pub(super) const SLOW: &[Path] = &[
    ("a receiver that hangs", By::Http, &[Hold(b""), OK], State::Delivered,
        &["no answer within 900ms", "200 ok"]),
    ("one that hangs in the head", By::Http, &[Hold(b"HTTP/1.1 200 OK\r\n"), OK], State::Delivered,
        &["no answer within 900ms", "200 ok"]),
    ("one byte at a time without end", By::Http, &[Trickle(b"HTTP/1.1 200 OK\r\nx: ", b"y"), OK], State::Delivered,
        &["no answer within 900ms", "200 ok"]),
    ("a body that hangs", By::Http, &[Hold(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")], State::Delivered,
        &["200 half"]),
];
