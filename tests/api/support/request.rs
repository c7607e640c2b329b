//! A request that can be sent several times, over a socket or in process.

use bytes::Bytes;
use http_body_util::Full;

use super::*;

/// A request. Its path includes the base path.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Request {
    /// Creates a request without adding the base path.
    pub(crate) fn exact(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// Creates a request below the base path.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self::exact(method, &format!("/api/v1{path}"))
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str, body: &str) -> Self {
        Self::new("POST", path).json(body)
    }

    /// Creates the row's valid request at another path.
    pub(crate) fn at(row: &Row, path: &str) -> Self {
        let request = Self::of(row);
        let path = format!("/api/v1{path}");
        Self { path, ..request }
    }

    /// Creates the row's valid request.
    pub(crate) fn of(row: &Row) -> Self {
        let request = Self::new(row.method, row.path);
        if row.body.is_empty() { request } else { request.json(row.body) }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Adds the token of a member, or nothing for the guest.
    pub(crate) fn maybe_bearer(self, token: Option<&String>) -> Self {
        match token {
            Some(token) => self.bearer(token),
            None => self,
        }
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &str) -> Self {
        self.header("content-type", "application/json").body(body.to_owned())
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    pub(crate) fn to_http(&self) -> http::Request<Full<Bytes>> {
        let head = http::Request::builder()
            .method(&*self.method)
            .uri(&*self.path)
            .header("host", "board.example");
        let with_headers =
            self.headers.iter().fold(head, |head, (name, value)| head.header(name, value));
        with_headers.body(Full::new(self.body.clone())).unwrap()
    }
}
