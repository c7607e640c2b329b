//! Responses that clients do not read: the server's memory, and the time that it takes to stop.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::split;
use crate::program::Server;

/// Requests of a guest with the default budget, apart from one.
const UNREAD: usize = 119;

/// Memory of the server in kB.
const LIMIT: u64 = 300_000;

#[test]
fn unread_responses_take_bounded_memory_and_do_not_delay_the_end() {
    let server = Server::new(&["--token-budget", "1000000"]);
    for (key, value) in [("post.interval_seconds", "0"), ("post.per_hour", "1000000")] {
        assert_eq!(server.command(&["setting", key, value]).status, 0);
    }
    let token = server.greeting["token"].as_str().unwrap().to_owned();
    // In JSON each of these characters is six bytes.
    let body = json!({ "body": format!("x{}", "\u{1}".repeat(19_999)) });
    for _ in 0..100 {
        assert_eq!(server.post(&token, "/threads/1/posts", &body).status, 201);
    }
    let page = server.api("/threads/1/posts?limit=100");
    let (host, path) = split(&page);
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let unread: Vec<_> = (0..UNREAD)
        .map(|_| {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    for stream in &unread {
        stream.peek(&mut [0]).unwrap();
    }
    let resident = server.resident();
    println!("{UNREAD} unread responses: {resident} kB");
    assert!(resident < LIMIT, "{resident} kB");
    let begun = Instant::now();
    server.signal("TERM");
    let (_, status, log) = server.wait();
    assert!(status.success(), "{log}");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}
