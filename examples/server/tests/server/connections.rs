//! Connections: number, timeouts and memory; and ambiguous, oversized and endless requests.

use std::io::ErrorKind;
use std::net::SocketAddrV4;
use std::process;

use rustix::net::sockopt::set_socket_recv_buffer_size;

use crate::prelude::*;

/// Longer than the server keeps a connection open in these tests.
const TIMEOUT: Duration = Duration::from_secs(60);

fn connect(server: &Server) -> TcpStream {
    let url = server.url("");
    TcpStream::connect(split_url(&url).0).unwrap()
}

fn begin(server: &Server, request: &str) -> TcpStream {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Sends a head on a connection that is closed afterwards.
fn answer(server: &Server, head: &str) -> Response {
    read_response(begin(server, &format!("{head}connection: close\r\n\r\n")))
}

/// Reads the head of a response.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

/// Sends a request without a body. Returns the head of its response.
fn exchange(stream: &mut TcpStream) -> String {
    stream.write_all(b"HEAD /health HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    read_head(stream)
}

/// Reads metrics on an open connection, and returns the values of these samples.
fn read_metrics<const COUNT: usize>(
    stream: &mut TcpStream,
    samples: [&str; COUNT],
) -> [f64; COUNT] {
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let head = read_head(stream);
    let len = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
    let mut body = vec![0; len.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let value =
        |sample: &str| body.lines().find_map(|line| line.strip_prefix(sample)?.trim().parse().ok());
    samples.map(|sample| value(sample).expect(sample))
}

/// Sends a request, which must succeed.
fn send_request(stream: &mut TcpStream) {
    assert!(exchange(stream).starts_with("HTTP/1.1 200 "));
}

/// Returns whether the head of a response announces the end of the connection.
fn is_last(head: &str) -> bool {
    head.contains("\r\nconnection: close\r\n")
}

#[test]
fn metrics_have_the_open_files_and_the_memory_of_the_process() {
    let server = Server::new(&["--no-worker"]);
    let count_files = || fs::read_dir(server.proc_directory().join("fd")).unwrap().count() as f64;
    // All requests use one connection, which is one of the files. Background tasks open files for a moment.
    let mut stream = connect(&server);
    let is_equal = (0..10).any(|_| {
        send_request(&mut stream);
        let before = count_files();
        let [files, memory] =
            read_metrics(&mut stream, ["process_open_fds ", "process_resident_memory_bytes "]);
        let resident = server.resident_kib() as f64 * 1024.0;
        let is_resident = (0.5..2.0).contains(&(memory / resident));
        assert!(is_resident, "{memory} bytes, {resident} resident");
        before == count_files() && files == before
    });
    assert!(is_equal, "the metric differs from /proc");
}

#[test]
fn a_connection_beyond_the_limit_waits_for_another_to_end() {
    let server = Server::new(&["--max-connections", "2"]);
    let mut open = [connect(&server), connect(&server)];
    open.iter_mut().for_each(send_request);
    let request = "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let third = begin(&server, request);
    for _ in 0..50 {
        open.iter_mut().for_each(send_request);
    }
    third.set_nonblocking(true).unwrap();
    let waits = third.peek(&mut [0]).unwrap_err();
    assert_eq!(waits.kind(), ErrorKind::WouldBlock);
    third.set_nonblocking(false).unwrap();
    drop(open);
    assert_eq!(read_response(third).status, 200);
    let (_, log) = server.stop_with_log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("connection limit")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains(" WARN "), "{log}");
    let warning = "connection limit reached: new connections wait limit=2";
    assert!(lines[0].ends_with(warning), "{log}");
}

#[test]
fn a_connection_beyond_the_limit_of_its_address_is_closed() {
    let server = Server::new(&["--max-connections-per-address", "2"]);
    let mut open = [connect(&server), connect(&server)];
    open.iter_mut().for_each(send_request);
    for _ in 0..3 {
        let mut refused = connect(&server);
        refused.set_read_timeout(Some(TIMEOUT)).unwrap();
        assert_eq!(refused.read(&mut [0]).unwrap(), 0);
    }
    open.iter_mut().for_each(send_request);
    drop(open);
    // The server has a slot again when it has noticed the end of a connection.
    let request = "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    wait_until(|| statuses(&server, request.as_bytes()).contains(&"200".into()));
    let (_, log) = server.stop_with_log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("of an address")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("127.0.0.1") && lines[0].contains("--trusted-proxies"));
}

#[test]
fn a_trusted_proxy_has_no_limit_of_its_own() {
    let server =
        Server::new(&["--max-connections-per-address", "1", "--trusted-proxies", "127.0.0.1"]);
    let mut open = [connect(&server), connect(&server), connect(&server)];
    open.iter_mut().for_each(send_request);
}

/// Two keep-alive connections: one waits for its next request for longer than a head may take, the other one for longer
/// than the idle time.
#[test]
fn an_idle_connection_stays_open_for_longer_than_a_head_may_take() {
    let server = Server::new(&["--client-timeout", "0.2", "--idle-timeout", "3"]);
    let mut used = connect(&server);
    let mut idle = connect(&server);
    for stream in [&mut used, &mut idle] {
        send_request(stream);
    }
    thread::sleep(Duration::from_secs(1));
    send_request(&mut used);
    let mut slow = begin(&server, "HEAD /health HTTP/1.1\r\n");
    for (stream, expected) in [(&mut slow, 0.2), (&mut idle, 3.0)] {
        let begun = Instant::now();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed without a response");
        assert!(begun.elapsed().as_secs_f64() < expected + 10.0);
    }
}

/// Heads of requests whose body is not read, without their length and the empty line.
fn refused_heads(server: &Server) -> Vec<String> {
    let banned = server.issue_token("mallory", "all");
    server.run_ok("member ban mallory");
    let json = "content-type: application/json\r\n";
    [
        ("POST /api/v1/messages", json, ""),
        ("POST /api/v1/messages", json, "forum_pat_x"),
        ("POST /api/v1/threads/1/posts", json, &banned),
        ("POST /api/v1/unknown", json, ""),
        ("GET /api/v1/forums", json, ""),
        ("POST /mcp", "content-type: text/plain\r\n", ""),
        ("POST /panel/tokens", "", ""),
        ("PUT /sign-in", "", ""),
        ("POST /docs", "", ""),
        ("POST /health", "", ""),
        ("POST /", "", ""),
        ("POST /unknown", "", ""),
    ]
    .map(|(target, headers, token)| {
        let authorization = if token.is_empty() {
            String::new()
        } else {
            format!("authorization: Bearer {token}\r\n")
        };
        format!("{target} HTTP/1.1\r\nhost: x\r\n{headers}{authorization}")
    })
    .into()
}

#[test]
fn a_connection_stays_usable_after_a_body_that_was_not_read() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    for head in refused_heads(&server) {
        let mut stream = connect(&server);
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        for len in [20, 64 * 1024] {
            let chunk = format!("{len:x}\r\n{}\r\n0\r\n\r\n", "{".repeat(len));
            for (length, body) in [
                (format!("content-length: {len}"), "{".repeat(len)),
                ("transfer-encoding: chunked".into(), chunk),
            ] {
                let begun = format!("{}{length}\r\n\r\n", head.replacen("GET", "HEAD", 1));
                stream.write_all(begun.as_bytes()).unwrap();
                // The server has read the head, and could refuse the request before the body arrives.
                thread::sleep(Duration::from_millis(20));
                stream.write_all(body.as_bytes()).unwrap();
                let refused = read_head(&mut stream);
                assert!(!is_last(&refused), "{begun}{refused}");
                let response_len = match refused.split("content-length: ").nth(1) {
                    Some(rest) if !begun.starts_with("HEAD") => {
                        rest.lines().next().unwrap().parse().unwrap()
                    }
                    _ => 0,
                };
                stream.read_exact(&mut vec![0; response_len]).unwrap();
                send_request(&mut stream);
            }
        }
    }
}

#[test]
fn a_response_that_ends_the_connection_announces_it() {
    let server = Server::new(&["--guest-budget", "1000000", "--request-timeout", "0.1"]);
    let token = server.token("alice");
    // A valid request, whose body is too long or does not arrive in time.
    let valid = format!(
        "POST /api/v1/threads/1/posts HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         authorization: Bearer {token}\r\n"
    );
    let refused = refused_heads(&server);
    let mut sent = Vec::new();
    for (length, len, is_valid) in [
        // The client sends the whole body before it reads the response.
        ("content-length: 70000", 70_000, false),
        ("content-length: 1000000", 1_000_000, false),
        ("content-length: 2000000", 2_000_000, true),
        // The rest of the body does not arrive.
        ("content-length: 20", 19, true),
        ("transfer-encoding: chunked", 0, true),
        // The client sends a body only if the server asks for it.
        ("content-length: 20\r\nexpect: 100-continue", 0, false),
    ] {
        for head in refused.iter().chain(is_valid.then_some(&valid)) {
            let head = format!("{head}{length}\r\n\r\n");
            let mut stream = begin(&server, &head);
            stream.write_all("{".repeat(len).as_bytes()).unwrap();
            sent.push((head, stream));
        }
    }
    for (head, stream) in sent {
        let response = read_to_end(stream);
        assert!(is_last(&response), "{head}{response}");
        assert!(!response.starts_with("HTTP/1.1 100 "), "{head}{response}");
    }
}

#[test]
fn a_response_to_an_invalid_body_announces_the_end_of_the_connection() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    for head in refused_heads(&server) {
        for chunk in ["-1\r\n", "1\r\n{x\r\n"] {
            let request = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}");
            let response = read_to_end(begin(&server, &request));
            assert!(is_last(&response), "{request}{response}");
        }
    }
}

#[test]
fn a_request_of_http_1_1_needs_exactly_one_host_header() {
    let server = Server::new(&["--guest-budget", "10"]);
    let mut remaining = 10;
    for hosts in ["", "host: x\r\nhost: x\r\n"] {
        for path in ["/api/v1/forums", "/api/v1/unknown"] {
            let refused = answer(&server, &format!("GET {path} HTTP/1.1\r\n{hosts}"));
            assert_eq!(refused.status_and_code(), (400, "bad_request".into()));
            let id = refused.header("x-request-id").unwrap();
            assert_eq!(refused.json()["error"]["requestId"], id);
            remaining -= 1;
            assert_eq!(refused.header_number("x-ratelimit-remaining"), Some(remaining));
        }
        for path in ["/health", "/sign-in", "/panel", "/docs", "/unknown"] {
            let refused = answer(&server, &format!("GET {path} HTTP/1.1\r\n{hosts}"));
            assert_eq!(refused.status_and("content-type"), (400, Some("application/json")));
            assert_eq!(refused.body, r#"{"status":"bad request"}"#, "{path}");
        }
    }
    let one = answer(&server, "GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n");
    assert_eq!(one.status, 200);
    let old = answer(&server, "GET /api/v1/forums HTTP/1.0\r\n");
    assert_eq!(old.status, 200);
}

/// The server must not parse this part of another request as a request.
const HIDDEN_REQUEST: &str = "GET /api/v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n";

/// Headers and bodies between a POST and the hidden request: the server answers 400 and closes the connection.
#[rustfmt::skip]
const AMBIGUOUS_REQUESTS: &[&str] = &[
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

/// Complete request heads, each with the status of its only response.
#[rustfmt::skip]
const HEADS: &[(&str, &str)] = &[
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

/// Sends these bytes. Returns the statuses of all responses until the server closes the connection.
fn statuses(server: &Server, request: &[u8]) -> Vec<String> {
    let mut stream = connect(server);
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    // A server that has read enough closes the connection, which can break the write and the read.
    drop(stream.write_all(request));
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes);
    let open = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(!open, "the connection is still open");
    let text = String::from_utf8_lossy(&bytes);
    text.split("HTTP/1.").skip(1).map(|response| response[2..5].into()).collect()
}

fn assert_serves(server: &Server) {
    assert_eq!(get(&server.api_url("/forums")).status, 200);
}

#[test]
fn ambiguous_requests_are_refused_and_end_the_connection() {
    let server = Server::new(&["--token-budget", "1000000"]);
    let token = server.token("alice");
    let head = format!(
        "POST /api/v1/threads/1/posts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n"
    );
    for rest in AMBIGUOUS_REQUESTS {
        let request = format!("{head}{rest}{HIDDEN_REQUEST}");
        assert_eq!(statuses(&server, request.as_bytes()), ["400"], "{rest:?}");
        assert_serves(&server);
    }
    // After a well-formed request the hidden one is answered.
    let whole = format!("{head}content-length: 2\r\n\r\n{{}}{HIDDEN_REQUEST}");
    let ends = whole.replace("/hidden HTTP/1.1", "/hidden HTTP/1.0");
    assert_eq!(statuses(&server, ends.as_bytes()), ["422", "404"]);
}

#[test]
fn every_notation_of_a_head_gets_one_response() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    for (head, status) in HEADS {
        let request = format!("{head}connection: close\r\n\r\n");
        let found = statuses(&server, request.as_bytes()).concat();
        assert_eq!(found, *status, "{head:?}");
        assert_serves(&server);
    }
    let length = HIDDEN_REQUEST.len();
    let body = format!("content-length: {length}\r\nconnection: close\r\n\r\n{HIDDEN_REQUEST}");
    let unread = format!("GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n{body}");
    assert_eq!(statuses(&server, unread.as_bytes()), ["200"]);
}

#[test]
fn oversized_heads_are_refused() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    let beginning = "GET /api/v1/forums HTTP/1.1\r\nhost: x\r\n";
    for head in [
        format!("{beginning}{}\r\n", "x: y\r\n".repeat(100)),
        format!("{beginning}x: {}\r\n\r\n", "y".repeat(128 * 1024)),
        format!("{beginning}{}\r\n", "x: y\r\n".repeat(100_000)),
        format!("{beginning}x: {}\r\n\r\n", "y".repeat(10_000_000)),
        format!("{beginning}{}: y\r\n\r\n", "x".repeat(1_000_000)),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(1_000_000)),
    ] {
        let refused = statuses(&server, head.as_bytes()).concat();
        // Bytes that were not read when the server closed the connection can discard the response.
        assert!(["431", "400", ""].contains(&&*refused), "{refused}");
        assert_serves(&server);
    }
    let large = format!("{beginning}x: {}\r\n", "y".repeat(31 * 1024));
    assert_eq!(answer(&server, &large).status, 200);
}

#[test]
fn endless_bodies_are_read_up_to_the_limit() {
    let server = Server::new(&[]);
    let token = server.token("alice");
    let head = format!(
        "POST /api/v1/threads/1/posts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let before = server.resident_kib();
    for chunk in [
        format!("10000\r\n{}\r\n", " ".repeat(0x10000)),
        format!("1;{}\r\n \r\n", "x".repeat(0x10000)),
    ] {
        let endless = format!("{head}{}", chunk.repeat(300));
        let refused = statuses(&server, endless.as_bytes()).concat();
        assert!(["400", ""].contains(&&*refused), "{refused}");
        assert_serves(&server);
    }
    let grown = server.resident_kib().saturating_sub(before);
    assert!(grown < 20_000, "{grown} kB");
}

#[test]
fn bodies_in_short_parts_are_refused_or_end_the_connection() {
    let server = Server::new(&["--guest-budget", "1000000"]);
    let json = "content-type: application/json\r\n";
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let authorization = format!("authorization: Bearer {}\r\n", server.token("alice"));
    for (target, headers, status, parts) in [
        ("POST /api/v1/threads/1/posts", format!("{json}{authorization}"), 400, 10_000),
        ("POST /mcp", format!("{json}{authorization}"), 400, 10_000),
        ("POST /mcp", json.into(), 400, 10_000),
        ("POST /sign-in", form.into(), 400, 10_000),
        ("GET /health", String::new(), 200, 1_100),
        ("GET /api/v1/nothing", String::new(), 404, 1_100),
        ("POST /api/v1/threads/1/posts", json.into(), 401, 1_100),
    ] {
        let head =
            format!("{target} HTTP/1.1\r\nhost: x\r\n{headers}transfer-encoding: chunked\r\n\r\n");
        let chunks = "1\r\n \r\n".repeat(parts);
        let response = read_to_end(begin(&server, &format!("{head}{chunks}0\r\n\r\n")));
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{target} {response}");
        assert!(is_last(&response), "{target} {response}");
    }
}

/// Connections of the test.
const CONNECTIONS: usize = 10_000;

/// Maximum memory of the server for a connection, in kB. Measured: 15 on an idle machine, 28 in a debug build on a busy
/// machine.
const KB_PER_CONNECTION: u64 = 48;

/// Time in which a head and a body have to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Raises the limit of open files, which the server inherits.
fn allow_open_files(files: usize) {
    let limit = format!("--nofile={files}:{files}");
    let status =
        Command::new("prlimit").args(["--pid", &process::id().to_string(), &limit]).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "prlimit could not raise the limit of open files"
    );
}

/// Reads until the server closes the connection.
fn read_to_end(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(2 * READ_TIMEOUT)).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn ten_thousand_idle_connections_are_bounded_and_end() {
    allow_open_files(CONNECTIONS + 5_000);
    let server = Server::new(&["--guest-budget", "1000000", "--max-connections-per-address", "0"]);
    let token = server.token("alice");
    let begun = Instant::now();
    let json = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let slow = [("/api/v1/threads/1/posts", &*json), ("/sign-in", form)].map(|(path, headers)| {
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: 9\r\n\r\n");
        begin(&server, &format!("{head}{{"))
    });
    let before = server.resident_kib();
    let complete = "GET /api/v1/unknown HTTP/1.1\r\nhost: x\r\n\r\n";
    let heads = ["", "GET /api", &complete[..complete.len() - 2], complete];
    let idle: Vec<_> =
        (0..CONNECTIONS).map(|number| begin(&server, heads[number % heads.len()])).collect();
    for _ in 0..50 {
        assert_serves(&server);
    }
    let grown = server.resident_kib().saturating_sub(before);
    println!("{CONNECTIONS} idle connections: {before} kB, and {grown} kB more");
    let allowed = KB_PER_CONNECTION * CONNECTIONS as u64;
    assert!(grown <= allowed, "{grown} kB");
    for answer in slow.map(read_to_end) {
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    for (number, stream) in idle.into_iter().enumerate() {
        let answered = read_to_end(stream).starts_with("HTTP/1.1 404 ");
        assert_eq!(answered, heads[number % heads.len()] == complete);
    }
    let took = begun.elapsed();
    assert!(took >= READ_TIMEOUT && took < 6 * READ_TIMEOUT, "{took:?}");
    assert_serves(&server);
}

/// Returns the data that the kernel buffers for the connections to `server`, in both directions, in KiB.
fn queued_kib(server: &Server) -> u64 {
    let address: SocketAddrV4 = split_url(&server.url("")).0.parse().unwrap();
    // The kernel prints the address as a number in the byte order of the machine.
    let octets = u32::from_ne_bytes(address.ip().octets());
    let printed = format!("{octets:08X}:{:04X}", address.port());
    let queued = |line: &str| {
        let fields: Vec<_> = line.split_ascii_whitespace().collect();
        let connected = fields[3] == "01" && fields[1..3].contains(&&*printed);
        let (sent, received) = fields[4].split_once(':').unwrap();
        let bytes = [sent, received].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        if connected { bytes.iter().sum() } else { 0 }
    };
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    table.lines().skip(1).map(queued).sum::<u64>() / 1024
}

/// Number of requests that the default rate limit allows a guest, minus one.
const UNREAD_RESPONSES: usize = 119;

#[test]
fn unread_responses_take_bounded_memory_and_do_not_delay_the_end() {
    let server = Server::new(&["--token-budget", "1000000"]);
    server.remove_post_limits();
    let token = server.token("alice");
    // In JSON each of these characters is six bytes.
    let body = json!({ "body": format!("x{}", "\u{1}".repeat(19_999)) });
    for _ in 0..100 {
        assert_eq!(server.post(&token, "/threads/1/posts", &body).status, 201);
    }
    let request = "GET /api/v1/threads/1/posts?limit=100 HTTP/1.1\r\nhost: x\r\n\r\n";
    let unread: Vec<_> = (0..UNREAD_RESPONSES)
        .map(|_| {
            let mut stream = connect(&server);
            set_socket_recv_buffer_size(&stream, 2048).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    for stream in &unread {
        stream.peek(&mut [0]).unwrap();
    }
    let resident = server.resident_kib();
    let queued = queued_kib(&server);
    println!("{UNREAD_RESPONSES} unread responses: {resident} kB, and {queued} kB in the kernel");
    assert!(resident < 350_000, "{resident} kB");
    assert!(queued < 32_000, "{queued} kB in the kernel");
    let begun = Instant::now();
    server.stop();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}
