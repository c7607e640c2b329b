//! A tiny HTTP client: one connection a request.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The head, in lower case.
    pub head: String,
    /// The head as it came.
    pub raw_head: String,
    /// The body.
    pub body: String,
}

impl Response {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The error code, if it is a refusal.
    pub fn error_code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .into()
    }

    /// A header, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }
}

/// Sends a request with these headers to an address such as `http://127.0.0.1:8080/health`.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Response {
    try_send(method, url, headers, body).unwrap()
}

/// The same; `None` when the server is gone before it has answered.
pub fn try_send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Option<Response> {
    let (host, path) = split_url(url);
    let mut stream = TcpStream::connect(host).ok()?;
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    try_read_response(stream)
}

/// `GET` without a token.
pub fn get(url: &str) -> Response {
    send("GET", url, &[], "")
}

/// The host and the path of an address.
pub fn split_url(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// An answer that ends with its connection.
pub fn read_response(stream: TcpStream) -> Response {
    try_read_response(stream).unwrap()
}

fn try_read_response(mut stream: TcpStream) -> Option<Response> {
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some(Response {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head: head.to_lowercase(),
        raw_head: head.into(),
        body: body.into(),
    })
}
