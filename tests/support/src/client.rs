//! A blocking HTTP client with one connection for each request.

use std::io::{Read, Write};
use std::net::TcpStream;

use http::HeaderMap;
use serde_json::Value;

use crate::wire::parse_headers;

#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Response {
    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Returns the error code; empty if the response is not an error.
    pub fn error_code(&self) -> String {
        let body = self.json();
        body["error"]["code"].as_str().unwrap_or_default().into()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the status and a header.
    pub fn status_and(&self, header: &str) -> (u16, Option<&str>) {
        (self.status, self.header(header))
    }

    /// Returns the status and the error code, which is empty for a response without an error.
    pub fn status_and_code(&self) -> (u16, String) {
        (self.status, self.error_code())
    }

    /// Parses a header as a number.
    pub fn header_number(&self, name: &str) -> Option<u64> {
        self.header(name)?.parse().ok()
    }

    /// Returns whether the response is a replay of an idempotency key.
    pub fn is_replayed(&self) -> bool {
        self.headers.contains_key("idempotency-replayed")
    }
}

/// Sends a request to a URL such as `http://127.0.0.1:8080/health`.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Response {
    try_send(method, url, headers, body).unwrap()
}

/// Sends a request. Returns `None` if the server closes the connection before it has responded.
pub fn try_send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Option<Response> {
    let (host, path) = split_url(url);
    let mut stream = TcpStream::connect(host).ok()?;
    let line = |(name, value): &(&str, &str)| format!("{name}: {value}\r\n");
    let headers: String = headers.iter().map(line).collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    try_read_response(stream)
}

/// Sends `GET` without a token.
pub fn get(url: &str) -> Response {
    send("GET", url, &[], "")
}

/// Splits a URL into host and path.
pub fn split_url(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Reads a response that ends with its connection.
pub fn read_response(stream: TcpStream) -> Response {
    try_read_response(stream).unwrap()
}

fn try_read_response(mut stream: TcpStream) -> Option<Response> {
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some(Response {
        status: head.split(' ').nth(1)?.parse().ok()?,
        headers: parse_headers(head),
        body: body.into(),
    })
}
