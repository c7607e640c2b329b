//! The process stops in order.

use std::io::Write;
use std::net::TcpStream;

use crate::client::{self, split};
use crate::program::Server;

#[test]
fn a_signal_ends_it_with_status_0() {
    for signal in ["TERM", "INT"] {
        let server = Server::new(&["--empty"]);
        server.signal(signal);
        let (home, status, log) = server.wait();
        assert_eq!(status.code(), Some(0), "{log}");
        assert_eq!(home.files(), home.files_of_a_board());
    }
}

#[test]
fn what_is_in_flight_is_finished_and_nothing_new_is_taken() {
    let server = Server::new(&[]);
    let url = server.api("/forums/2/threads");
    let (host, path) = split(&url);
    let token = server.greeting["token"].as_str().unwrap();
    let (begin, end) = (r#"{"title":"In flight","#, r#""body":"Landed."}"#);
    let length = begin.len() + end.len();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server asks for the body once it reads it, so from here on the request is in flight.
    let mut asked = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(begin.as_bytes()).unwrap();
    server.signal("TERM");
    while TcpStream::connect(host).is_ok() {
        std::thread::yield_now();
    }
    stream.write_all(end.as_bytes()).unwrap();
    assert_eq!(client::read(stream).status, 201);
    let (_, status, log) = server.wait();
    assert_eq!(status.code(), Some(0), "{log}");
}
