//! Thousands of connections on which nothing comes, or not enough: others are answered meanwhile, memory is bounded, and
//! each is closed after half a minute.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use crate::client::{get, split};
use crate::program::Server;

const CONNECTIONS: usize = 10_000;

/// How much of the server's memory a connection may take, in kB. 15 were measured alone, and 28 in a debug build on a
/// busy machine.
const EACH: u64 = 48;

/// When hyper has waited for a head, or the library for a body, long enough.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether both ends may have so many files open.
fn may_open(files: usize) -> bool {
    let limit = format!("--nofile={files}:{files}");
    let raised = Command::new("prlimit")
        .args(["--pid", &process::id().to_string(), &limit])
        .status();
    raised.is_ok_and(|status| status.success())
}

fn begun(server: &Server, request: &str) -> TcpStream {
    let url = server.beside("");
    let mut stream = TcpStream::connect(split(&url).0).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// What comes until the server hangs up, which it does in time.
fn rest(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn ten_thousand_idle_connections_harm_nobody_and_end() {
    let allowed = may_open(CONNECTIONS + 5_000);
    assert!(allowed, "prlimit could not raise the limit of open files");
    let server = Server::new(&["--guest-budget", "1000000"]);
    let token = server.greeting["token"].as_str().unwrap();
    let begun_at = Instant::now();
    let json = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let slow = [("/api/v1/threads/1/posts", &*json), ("/sign-in", form)].map(|(path, headers)| {
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: 9\r\n\r\n");
        begun(&server, &format!("{head}{{"))
    });
    let before = server.resident();
    let whole = "GET /api/v1/nowhere HTTP/1.1\r\nhost: x\r\n\r\n";
    let kinds = ["", "GET /api", &whole[..whole.len() - 2], whole];
    let idle: Vec<_> = (0..CONNECTIONS)
        .map(|number| begun(&server, kinds[number % kinds.len()]))
        .collect();
    for _ in 0..50 {
        assert_eq!(get(&server.api("/forums")).status, 200);
    }
    let grown = server.resident().saturating_sub(before);
    println!("{CONNECTIONS} idle connections: {before} kB, and {grown} kB more");
    assert!(grown <= EACH * CONNECTIONS as u64, "{grown} kB");

    for answer in slow.map(rest) {
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    for (number, stream) in idle.into_iter().enumerate() {
        let answered = rest(stream).starts_with("HTTP/1.1 404 ");
        assert_eq!(answered, kinds[number % kinds.len()] == whole);
    }
    let took = begun_at.elapsed();
    assert!(took >= PATIENCE && took < 6 * PATIENCE, "{took:?}");
    assert_eq!(get(&server.api("/forums")).status, 200);
}
