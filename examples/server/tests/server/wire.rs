//! Requests that two servers may read in two ways, and ones that never end: at most one answer to each, none of them
//! ours to be ashamed of, and a next request that works.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::{get, split};
use crate::program::Server;

/// Would be answered if it were taken for a request.
const HIDDEN: &str = "GET /api/v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n";

/// What stands after `host` of a POST, and before the hidden request: refused, and the connection with it.
#[rustfmt::skip]
const REFUSED: &[&str] = &[
    "content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n0\r\n\r\n",
    "content-length: 0\r\ncontent-length: 43\r\n\r\n",
    "content-length: 0, 43\r\n\r\n",
    "content-length: +0\r\n\r\n",
    "content-length: -1\r\n\r\n",
    "content-length: 0x0\r\n\r\n",
    "content-length: 99999999999999999999999\r\n\r\n",
    "content-length : 0\r\n\r\n",
    "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\n0;x\n\r\n",
    "transfer-encoding: chunked\r\n\r\n-1\r\n",
    "transfer-encoding: chunked\r\n\r\n0x2b\r\n",
    "transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "x: a\rcontent-length: 43\r\n\r\n",
    "x: a\0b\r\n\r\n",
    " x: folded\r\n\r\n",
];

/// Heads that are whole, and how they are answered: once.
#[rustfmt::skip]
const READ: &[(&str, &str)] = &[
    ("GET http://elsewhere/api/v1/forums HTTP/1.1\r\nhost: x\r\n", "200"),
    ("GET //elsewhere/api/v1/forums HTTP/1.1\r\nhost: x\r\n", "404"),
    ("GET x:80 HTTP/1.1\r\nhost: x\r\n", "404"),
    ("CONNECT x:80 HTTP/1.1\r\nhost: x\r\n", "404"),
    ("OPTIONS * HTTP/1.1\r\nhost: x\r\n", "404"),
    ("GET /api/v1/forums HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\n", "200"),
    ("GET /api/v1/forums HTTP/1.0\r\n", "200"),
    ("GET /api/v1/forums HTTP/2.0\r\nhost: x\r\n", "400"),
    ("PRI * HTTP/2.0\r\n", "400"),
    ("GET /api/v1/forums\r\n", "400"),
];

/// The statuses of all that is answered to these bytes, until the server hangs up.
fn answers(server: &Server, request: &[u8]) -> Vec<String> {
    let url = server.beside("");
    let mut stream = TcpStream::connect(split(&url).0).unwrap();
    let patience = Duration::from_secs(20);
    stream.set_read_timeout(Some(patience)).unwrap();
    // A server that has read enough hangs up, and then nothing more can be sent, nor perhaps read.
    drop(stream.write_all(request));
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes);
    let waits = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!waits, "the connection is still open");
    let text = String::from_utf8_lossy(&bytes);
    let statuses = text.split("HTTP/1.").skip(1);
    statuses.map(|status| status[2..5].into()).collect()
}

fn works(server: &Server) {
    assert_eq!(get(&server.api("/forums")).status, 200);
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_and_nothing_after_it_is_read() {
    let server = Server::new(&["--token-budget", "1000000"]);
    let token = server.greeting["token"].as_str().unwrap();
    let head = format!(
        "POST /api/v1/threads/1/posts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n"
    );
    for rest in REFUSED {
        let request = format!("{head}{rest}{HIDDEN}");
        assert_eq!(answers(&server, request.as_bytes()), ["400"], "{rest:?}");
        works(&server);
    }
    // So the hidden request is one that would be answered.
    let whole = format!("{head}content-length: 2\r\n\r\n{{}}{HIDDEN}");
    let ends = whole.replace("/hidden HTTP/1.1", "/hidden HTTP/1.0");
    assert_eq!(answers(&server, ends.as_bytes()), ["422", "404"]);
}

#[test]
fn a_head_of_any_form_is_answered_once() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    for (head, status) in READ {
        let request = format!("{head}connection: close\r\n\r\n");
        assert_eq!(
            answers(&server, request.as_bytes()).concat(),
            *status,
            "{head:?}"
        );
        works(&server);
    }
    let body = format!(
        "content-length: {}\r\nconnection: close\r\n\r\n{HIDDEN}",
        HIDDEN.len()
    );
    let unread = format!("GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n{body}");
    assert_eq!(answers(&server, unread.as_bytes()), ["200"]);
}

#[test]
fn heads_without_measure_are_refused() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    let begin = "GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n";
    for head in [
        format!("{begin}{}\r\n", "x: y\r\n".repeat(100)),
        format!("{begin}{}\r\n", "x: y\r\n".repeat(100_000)),
        format!("{begin}x: {}\r\n\r\n", "y".repeat(10_000_000)),
        format!("{begin}{}: y\r\n\r\n", "x".repeat(1_000_000)),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(1_000_000)),
    ] {
        let refused = answers(&server, head.as_bytes()).concat();
        // What was not read when the server hung up may take the answer with it.
        assert!(["431", "400", ""].contains(&&*refused), "{refused}");
        works(&server);
    }
}

#[test]
fn bodies_without_end_are_read_as_far_as_the_limit() {
    let server = Server::new(&[]);
    let token = server.greeting["token"].as_str().unwrap();
    let head = format!(
        "POST /api/v1/threads/1/posts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let before = server.resident();
    for chunk in [
        format!("10000\r\n{}\r\n", " ".repeat(0x10000)),
        format!("1;{}\r\n \r\n", "x".repeat(0x10000)),
    ] {
        let endless = format!("{head}{}", chunk.repeat(300));
        let refused = answers(&server, endless.as_bytes()).concat();
        assert!(["400", ""].contains(&&*refused), "{refused}");
        works(&server);
    }
    let grown = server.resident().saturating_sub(before);
    assert!(grown < 20_000, "{grown} kB");
}
