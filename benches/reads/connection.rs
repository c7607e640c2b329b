//! A keep-alive connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::split_url;
use crate::program::Server;

/// A connection to a server's API.
pub struct Connection {
    api: String,
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Connects to `server`.
    pub fn to(server: &Server) -> Self {
        let api = server.api_url("");
        let stream = TcpStream::connect(split_url(&api).0).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            api,
            stream: BufReader::new(stream),
        }
    }

    /// Returns the response to a path.
    pub fn json(&mut self, path: &str, token: Option<&str>) -> Value {
        serde_json::from_slice(&self.get(path, token)).unwrap()
    }

    /// Returns the duration of a request.
    pub fn time(&mut self, path: &str, token: Option<&str>) -> Duration {
        let begun = Instant::now();
        self.get(path, token);
        begun.elapsed()
    }

    fn get(&mut self, path: &str, token: Option<&str>) -> Vec<u8> {
        let (host, mount) = split_url(&self.api);
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
        let token = token.unwrap_or_default();
        let request = format!("GET {mount}{path} HTTP/1.1\r\nhost: {host}\r\n{token}\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        self.answer(path)
    }

    fn answer(&mut self, path: &str) -> Vec<u8> {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            assert!(
                self.stream.read_line(&mut head).unwrap() > 0,
                "{path}: {head}"
            );
            let header = head[start..].to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        body
    }
}
