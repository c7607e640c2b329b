//! The number of open connections.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::client::{self, split};
use crate::program::{Server, run};

fn connect(server: &Server) -> TcpStream {
    let url = server.beside("");
    TcpStream::connect(split(&url).0).unwrap()
}

/// Sends a request and reads the beginning of its answer.
fn ask(stream: &mut TcpStream) {
    let request = b"HEAD /health HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "));
}

#[test]
fn a_connection_beyond_the_limit_waits_for_another_to_end() {
    let server = Server::new(&["--max-connections", "2"]);
    let mut open = [connect(&server), connect(&server)];
    open.iter_mut().for_each(ask);
    let mut third = connect(&server);
    let request = b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    third.write_all(request).unwrap();
    for _ in 0..50 {
        open.iter_mut().for_each(ask);
    }
    third.set_nonblocking(true).unwrap();
    let waits = third.peek(&mut [0]).unwrap_err();
    assert_eq!(waits.kind(), ErrorKind::WouldBlock);
    third.set_nonblocking(false).unwrap();
    drop(open);
    assert_eq!(client::read(third).status, 200);
}

#[test]
fn the_limit_is_a_number_from_1() {
    let directory = tempfile::tempdir().unwrap();
    for text in ["0", "-1", "many"] {
        let refused = run(directory.path(), &["--max-connections", text], "");
        assert_eq!(refused.status, 2, "{refused:?}");
    }
}
