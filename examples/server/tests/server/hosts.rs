//! The `Host` header of a request.

use std::io::Write;
use std::net::TcpStream;

use crate::client::{self, Answer, split};
use crate::program::Server;

fn answer(server: &Server, head: &str) -> Answer {
    let url = server.beside("");
    let mut stream = TcpStream::connect(split(&url).0).unwrap();
    let request = format!("{head}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    client::read(stream)
}

#[test]
fn a_request_of_http_1_1_needs_exactly_one_host_header() {
    let server = Server::new(&["--guest-budget", "10"]);
    for hosts in ["", "host: x\r\nhost: x\r\n"] {
        for path in ["/api/v1/forums", "/api/v1/nowhere"] {
            let refused = answer(&server, &format!("GET {path} HTTP/1.1\r\n{hosts}"));
            assert_eq!((refused.status, &*refused.code()), (400, "bad_request"));
            let id = refused.header("x-request-id").unwrap();
            assert_eq!(refused.json()["error"]["requestId"], id);
            assert_eq!(refused.header("x-ratelimit-remaining"), Some("10"));
        }
        for path in ["/health", "/sign-in", "/panel", "/docs", "/nowhere"] {
            let refused = answer(&server, &format!("GET {path} HTTP/1.1\r\n{hosts}"));
            assert_eq!(refused.status, 400, "{path}");
        }
    }
    let one = answer(&server, "GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n");
    assert_eq!(one.status, 200);
    let old = answer(&server, "GET /api/v1/forums HTTP/1.0\r\n");
    assert_eq!(old.status, 200);
}
